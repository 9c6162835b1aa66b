-- Which 3 free cabs are nearest to zoe, who is a customer: an object of another stream?
--
-- customers.csv, beside this script, is to lie with the cabs.
--
--     sanderling run nearest.sql --data folder --final

CREATE STREAM cabs KEY cab_id TIME unix_time LOCATION (lon, lat) ON GLOBE
  WITH (path = 'cabs_2h.csv.gz', tick = '1 minute');
CREATE STREAM customers KEY id TIME ts LOCATION (lon, lat) ON GLOBE WITH (path = 'customers.csv', tick = '1 minute');

REGISTER QUERY nearest AS SELECT cab_id FROM cabs WHERE occupied = 0 kNN ('M', 3, customers 'zoe');
