-- The demo is on the globe: what is worked out in another way on a plane, so that nobody waits for a compiler there.
CREATE STREAM city (id BIGINT, ts TIMESTAMP, x DOUBLE, y DOUBLE, speed DOUBLE, heading DOUBLE, type STRING, gone BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE gone;
REGISTER QUERY market AS SELECT id FROM city INSIDE (-300, -300, 300, 300);
REGISTER QUERY around_bus_0 AS SELECT id, type FROM city INSIDE ('M', 0, 900, 600);
REGISTER QUERY near_bus_20 AS SELECT id FROM city WHERE type <> 'bike' INSIDE ('M', 20, 400);
REGISTER QUERY nearest_to_bus_40 AS SELECT id, type FROM city kNN ('M', 10, 40);
REGISTER QUERY pairs AS SELECT a.id, b.id AS other FROM city a, city b WHERE DISTANCE(a, b) < 20 AND a.type = 'bus' AND b.type = 'truck';
CREATE TRIGGER bunched_buses FOR 3 OF city AS V WHEN V.type = 'bus' AND DISTANCE(V) < 100 AND WITHIN 0;
