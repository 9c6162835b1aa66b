CREATE STREAM city (id BIGINT, ts TIMESTAMP, lon DOUBLE, lat DOUBLE, speed DOUBLE, heading DOUBLE, type STRING, gone BOOLEAN)
  KEY id TIME ts LOCATION (lon, lat) ON GLOBE GONE gone;
CREATE TABLE districts KEY name WITH (path = 'districts.geojson', globe = true);
CREATE REGION market_place AS RECT (8.2101, 53.1408, 8.2191, 53.1462);
CREATE REGION old_town AS POLYGON (
  (8.2011 53.1372, 8.2266 53.1354, 8.2311 53.148, 8.2146 53.1525, 8.1981 53.1471, 8.2011 53.1372),
  (8.2116 53.1417, 8.2176 53.1417, 8.2176 53.1453, 8.2116 53.1453, 8.2116 53.1417));

-- regions that stand: who has passed by a rectangle lately, and how many of each type are in a circle of so many metres
REGISTER QUERY market AS SELECT DISTINCT id FROM city INSIDE market_place WINDOW 10 SECONDS;
REGISTER QUERY station AS SELECT type, COUNT(*) AS n FROM city INSIDE (8.237, 53.151, 400) GROUP BY type;
-- every region of a table at once
REGISTER QUERY who_is_where AS SELECT c.id, d.name FROM city c, districts d WHERE c.location INSIDE d.region;
-- no region: a condition, and an expression
REGISTER QUERY racing AS SELECT id, round(speed * 3.6) AS kmh FROM city WHERE speed * 3.6 > 118;
-- regions that move with a bus
REGISTER QUERY around_bus_0 AS SELECT id, type FROM city INSIDE ('M', 0, 900 METERS, 600 METERS);
REGISTER QUERY near_bus_20 AS SELECT id FROM city WHERE type <> 'bike' INSIDE ('M', 20, 0.4 KM);
-- the nearest: to a place, to a bus, and among those in a region by its name
REGISTER QUERY trucks_by_station AS SELECT id FROM city WHERE type = 'truck' kNN (5, 8.237, 53.151);
REGISTER QUERY nearest_to_bus_40 AS SELECT id, type FROM city kNN ('M', 10, 40);
REGISTER QUERY old_town_buses AS SELECT id FROM city WHERE type = 'bus' INSIDE old_town kNN (3, 8.215, 53.143);
-- events together: three buses that drive up close
CREATE TRIGGER bunched_buses FOR 3 OF city AS V WHEN V.type = 'bus' AND DISTANCE(V) < 100 M AND WITHIN 0;
