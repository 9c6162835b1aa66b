-- The nine queries that BerlinMOD asks of a stream, two of them in windows, too, over five vehicles in and around Brussels, on the globe.
--
-- The file is a benchmark's trips of four days (x and y, in metres of a map, are not needed). A vehicle is where it last said, also
-- while it is parked; the ticks are ten seconds long.
--
-- Both files lie in the folder that is given; that of the places is beside this script.
--
--     sanderling run examples/berlinmod.sql --data folder --out answers.jsonl

CREATE STREAM vehicles (veh_id BIGINT, time TIMESTAMP, trip_id BIGINT, lon DOUBLE, lat DOUBLE)
  KEY veh_id TIME time LOCATION (lon, lat) ON GLOBE
  WITH (path = 'brussels_trips.csv.gz', tick = '10 seconds');

-- Points of interest, and all within 500 metres of each.
CREATE TABLE places KEY name WITH (path = 'berlinmod_places.geojson', within = 500, globe = true);

-- Q1. How many vehicles have been seen so far?
REGISTER QUERY q1_seen AS SELECT COUNT(DISTINCT veh_id) AS vehicles FROM vehicles [SINCE '2020-06-01'];

-- Q2. Where is vehicle 4, every five minutes?
REGISTER QUERY q2_where AS SELECT veh_id, lon, lat FROM vehicles [NOW EVERY 5 MINUTES] WHERE veh_id = 4;

-- Q3. Who is within 2 km of a point?
REGISTER QUERY q3_near AS SELECT veh_id FROM vehicles INSIDE CIRCLE (4.35, 50.86, 2 KM);

-- Q4. Who enters a region? Each + is an entry.
REGISTER QUERY q4_enters AS SELECT veh_id FROM vehicles INSIDE RECT (4.36, 50.79, 4.44, 50.87);

-- Q5. Who meets near a point: two within 3 km of it, and of each other within 500 metres?
REGISTER QUERY q5_meet AS
  SELECT a.veh_id AS one, b.veh_id AS other
  FROM vehicles [NEARBY SPOT (4.35 50.86) WITHIN 3 KM NOW] a, vehicles [NEARBY SPOT (4.35 50.86) WITHIN 3 KM NOW] b
  WHERE DISTANCE(a, b) <= 500 METERS AND a.veh_id < b.veh_id;

-- Q6. How far has each travelled, every hour? A vehicle's readings follow each other within seconds: the parallel of the one and the
-- meridian of the other are the legs of a right angle.
REGISTER QUERY q6_travelled AS
  SELECT veh_id, SUM(6371.0088 * SQRT(POWER(RADIANS(lat - PREVIOUS(lat)), 2)
    + POWER(RADIANS(lon - PREVIOUS(lon)) * COS(RADIANS(lat)), 2))) AS km
  FROM vehicles [SINCE '2020-06-01' EVERY 1 HOUR] GROUP BY veh_id;

-- The same in windows of ten minutes, each by itself. Q4: who enters the region, as far as the window shows both that it was outside and
-- that it is inside? Q6: how far has each travelled, between readings that are both in the window?
REGISTER QUERY q4_windowed AS
  SELECT DISTINCT veh_id FROM vehicles
  WHERE NOT (PREVIOUS(lon) WITHIN WINDOW BETWEEN 4.36 AND 4.44 AND PREVIOUS(lat) WITHIN WINDOW BETWEEN 50.79 AND 50.87)
  INSIDE RECT (4.36, 50.79, 4.44, 50.87) WINDOW TUMBLE 10 MINUTES;
REGISTER QUERY q6_windowed AS
  SELECT veh_id, SUM(6371.0088 * SQRT(POWER(RADIANS(lat - PREVIOUS(lat) WITHIN WINDOW), 2)
    + POWER(RADIANS(lon - PREVIOUS(lon) WITHIN WINDOW) * COS(RADIANS(lat)), 2))) AS km
  FROM vehicles WINDOW TUMBLE 10 MINUTES GROUP BY veh_id;

-- Q7. When was each vehicle first at each point of interest?
REGISTER QUERY q7_first AS
  SELECT p.name, v.veh_id, MIN(v.time) AS at FROM vehicles [SINCE '2020-06-01'] v, places p
  WHERE v.location INSIDE p.region GROUP BY p.name, v.veh_id;

-- Q8. Who is within 300 metres of a road?
REGISTER QUERY q8_road AS
  SELECT veh_id FROM vehicles INSIDE ON LINE (4.33 50.858, 4.35 50.862, 4.38 50.843) WITHIN 300 METERS;

-- Q9. How far apart are vehicles 4 and 5, every ten minutes?
REGISTER QUERY q9_apart AS
  SELECT DISTANCE(a, b) AS metres FROM vehicles [NOW EVERY 10 MINUTES] a, vehicles [NOW EVERY 10 MINUTES] b
  WHERE a.veh_id = 4 AND b.veh_id = 5 AND DISTANCE(a, b) <= 100 KM;
