-- Which aircraft come within 5 nautical miles and 1,000 feet of each other? Each encounter is told once.
--
--     sanderling run flights.sql --data folder

CREATE STREAM flights KEY icao24 TIME timestamp LOCATION (longitude, latitude) ON GLOBE
  WITH (path = 'switzerland.csv.gz', tick = '10 seconds');

CREATE TRIGGER near FOR flights AS a, flights AS b
  WHEN a.icao24 < b.icao24 AND DISTANCE(a, b) <= 5 NAUTICAL MILES AND ABS(a.altitude - b.altitude) <= 1000
    AND WITHIN 0 SECONDS
  SELECT a.icao24 AS one, b.icao24 AS other
  REPORT ONCE PER (one, other) EVERY 10 MINUTES;
