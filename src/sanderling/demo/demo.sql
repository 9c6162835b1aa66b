CREATE STREAM city (id BIGINT, ts TIMESTAMP, x DOUBLE, y DOUBLE, speed DOUBLE, heading DOUBLE, type STRING, gone BOOLEAN)
  KEY id TIME ts LOCATION (x, y) GONE gone;
CREATE TABLE districts KEY name WITH (path = 'districts.geojson');
CREATE REGION old_town AS POLYGON (
  (-900 -700, 800 -900, 1100 500, 0 1000, -1100 400, -900 -700), (-200 -200, 200 -200, 200 200, -200 200, -200 -200));

-- regions that stand: who has passed by a rectangle lately, and how many of each type are in a circle
REGISTER QUERY market AS SELECT DISTINCT id FROM city INSIDE (-300, -300, 300, 300) WINDOW 10 SECONDS;
REGISTER QUERY station AS SELECT type, COUNT(*) AS n FROM city INSIDE (1500, 800, 400) GROUP BY type;
-- every region of a table at once
REGISTER QUERY who_is_where AS SELECT c.id, d.name FROM city c, districts d WHERE c.location INSIDE d.region;
-- no region: a condition, and an expression
REGISTER QUERY racing AS SELECT id, round(speed * 3.6) AS kmh FROM city WHERE speed * 3.6 > 118;
-- regions that move with a bus
REGISTER QUERY around_bus_0 AS SELECT id, type FROM city INSIDE ('M', 0, 900, 600);
REGISTER QUERY near_bus_20 AS SELECT id FROM city WHERE type <> 'bike' INSIDE ('M', 20, 400);
-- the nearest: to a place, to a bus, and among those in a region by its name
REGISTER QUERY trucks_by_station AS SELECT id FROM city WHERE type = 'truck' kNN (5, 1500, 800);
REGISTER QUERY nearest_to_bus_40 AS SELECT id, type FROM city kNN ('M', 10, 40);
REGISTER QUERY old_town_buses AS SELECT id FROM city WHERE type = 'bus' INSIDE old_town kNN (3, 0, 0);
-- events together: three buses that drive up close
CREATE TRIGGER bunched_buses FOR 3 OF city AS V WHEN V.type = 'bus' AND DISTANCE(V) < 100 AND WITHIN 0;
