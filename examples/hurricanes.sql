-- The hurricanes of the Atlantic, and who was in their way.
--
-- The file is HURDAT2, the best tracks of 1851 to 2019, a reading every six hours and at landfall: winds in knots, places in degrees.
-- Distances are along the globe. The oldest readings have no key: they are dead letters.
--
-- Both files lie in the folder that is given; that of the buoys is beside this script.
--
--     sanderling run examples/hurricanes.sql --data folder --out in_reach.jsonl

CREATE STREAM storms (Key STRING, Name STRING, DateTime TIMESTAMP, Status STRING, Lat DOUBLE, Lon DOUBLE, Wind DOUBLE)
  KEY Key TIME DateTime LOCATION (Lon, Lat) ON GLOBE
  WITH (path = 'atlantic.csv.gz', tick = '6 hours', stale_after = '12 hours');

-- Weather buoys that are moored off the coast of North America, and in the Gulf of Mexico.
CREATE TABLE buoys (station STRING, water STRING, lon DOUBLE, lat DOUBLE) KEY station LOCATION (lon, lat) ON GLOBE
  WITH (path = 'atlantic_buoys.csv');

-- A circle of 200 nautical miles follows every hurricane along its track: the buoys in it are told as it comes, and
-- as it goes.
REGISTER QUERY in_reach AS
  SELECT s.Name, s.Key, b.station, b.water FROM storms s, buoys b
  WHERE DISTANCE(s, b) <= 200 NAUTICAL MILES AND s.Status = 'HU';

-- A circle that follows one storm, Maria of 2005: what else was near her.
REGISTER QUERY beside_maria AS SELECT Name FROM storms INSIDE AROUND ('AL142005', 850 NAUTICAL MILES);

-- Two hurricanes so close to each other may begin to turn around a point between them.
REGISTER QUERY dancing AS
  SELECT a.Name AS one, b.Name AS other FROM storms a, storms b
  WHERE DISTANCE(a, b) <= 850 NAUTICAL MILES AND a.Key < b.Key AND a.Status = 'HU' AND b.Status = 'HU';
