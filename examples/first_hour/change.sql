-- A query that becomes another while it runs: only the difference is told. In a session execute("REPLACE QUERY …") does the same at once.
--
--     sanderling run change.sql --data folder

CREATE STREAM cabs KEY cab_id TIME unix_time LOCATION (lon, lat) ON GLOBE
  WITH (path = 'cabs_2h.csv.gz', tick = '1 minute');

REGISTER QUERY near AS SELECT cab_id FROM cabs INSIDE (-122.42, 37.78, 500 METERS);
AT '2008-05-23 19:10:00' REPLACE QUERY near AS SELECT cab_id FROM cabs INSIDE (-122.42, 37.78, 1 KM);
AT '2008-05-23 19:20:00' DROP QUERY near;
