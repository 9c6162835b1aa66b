-- How many occupied cabs are in each neighbourhood of San Francisco, minute by minute?
--
--     sanderling run occupied.sql --data folder --out counts.csv

CREATE STREAM cabs KEY cab_id TIME unix_time LOCATION (lon, lat) WITH (path = 'cabs_2h.csv.gz', tick = '1 minute');
CREATE TABLE hoods KEY name WITH (path = 'san-francisco.geojson');

REGISTER QUERY occupied AS
  SELECT h.name, COUNT(*) AS n FROM cabs c, hoods h
  WHERE c.location INSIDE h.region AND c.occupied = 1 GROUP BY h.name;
