CREATE STREAM city (id STRING, ts TIMESTAMP, x DOUBLE, y DOUBLE, speed DOUBLE, type STRING)
  KEY id TIME ts LOCATION (x, y);
CREATE REGION old_town AS POLYGON ((-900 -700, 800 -900, 1100 500, 0 1000, -1100 400, -900 -700), (-200 -200, 200 -200, 200 200, -200 200, -200 -200));
REGISTER QUERY in_the_square AS SELECT id FROM city INSIDE (-300, -300, 300, 300);
REGISTER QUERY buses_in_old_town AS SELECT id FROM city WHERE type = 'bus' INSIDE old_town;
REGISTER QUERY fast_at_the_gate AS SELECT id, round(speed * 3.6) AS kmh FROM city WHERE speed > 12 INSIDE (2500, 0, 600);
REGISTER QUERY around_bus17 AS SELECT id FROM city INSIDE ('M', 'bus17', 800, 800);
REGISTER QUERY near_car4 AS SELECT id, type FROM city WHERE type <> 'bike' INSIDE ('M', 'car4', 300);
