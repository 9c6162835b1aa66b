-- Which cabs have been at the airport for 10 minutes, without a break?
--
--     sanderling run airport.sql --data folder

CREATE STREAM cabs KEY cab_id TIME unix_time LOCATION (lon, lat) WITH (path = 'cabs_2h.csv.gz', tick = '1 minute');
CREATE REGION airport AS
  POLYGON ((-122.405 37.612, -122.375 37.605, -122.372 37.625, -122.398 37.630, -122.405 37.612));

REGISTER QUERY waiting AS SELECT cab_id FROM cabs INSIDE airport PERSISTENCY 10 MINUTES;
