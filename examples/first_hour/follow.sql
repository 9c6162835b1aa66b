-- Who is downtown, from files that appear in a folder, and lines that are added to them, until Ctrl-C?
--
--     sanderling run follow.sql --data folder --follow --out downtown.csv

CREATE STREAM cabs (cab_id STRING, unix_time BIGINT, lon DOUBLE, lat DOUBLE, occupied INT)
  KEY cab_id TIME unix_time LOCATION (lon, lat) WITH (path = 'incoming/*.csv', tick = '1 minute');

REGISTER QUERY downtown AS SELECT cab_id FROM cabs INSIDE (-122.41, 37.79, -122.39, 37.80);
