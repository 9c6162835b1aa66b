-- Which ships are within 2 km of each other? Straight from a file of the Danish Maritime Authority: its times are
-- written 26/04/2026 00:00:00, and a latitude of 91, which says that there is none, makes a dead letter.
--
--     sanderling run ships.sql --data folder --dead-letters no_place.jsonl

CREATE STREAM ships KEY MMSI TIME `# Timestamp` LOCATION (Longitude, Latitude) ON GLOBE
  WITH (path = 'danish_raw_97s.csv.gz', time_format = 'dd/MM/yyyy HH:mm:ss', tick = '20 seconds');

REGISTER QUERY near AS
  SELECT a.MMSI AS one, b.MMSI AS other FROM ships a JOIN ships b ON DISTANCE(a, b) <= 2 KM AND a.MMSI < b.MMSI;
