-- What the demo does not ask, so that whoever asks it first need not wait for a compiler.
REGISTER QUERY pairs AS SELECT a.id, b.id AS other FROM city a, city b WHERE DISTANCE(a, b) < 20 METERS AND a.type = 'bus' AND b.type = 'truck';
REGISTER QUERY in_districts AS SELECT d.name, SUM(c.speed) AS s, AVG(c.speed) AS a, MIN(c.speed) AS low, MAX(c.type) AS last,
  STDDEV(c.speed) AS spread, COUNT(DISTINCT c.type) AS kinds FROM city c, districts d WHERE c.location INSIDE d.region GROUP BY d.name;
REGISTER QUERY fastest AS SELECT id, speed, type FROM city ORDER BY speed DESC, type LIMIT 5;
REGISTER QUERY alike AS SELECT a.id, b.name FROM city a LEFT JOIN districts b ON a.type = b.name WHERE a.type = 'bus';
REGISTER QUERY last_readings AS SELECT id, ts FROM city WHERE type = 'bus' WINDOW 100 ROWS;
REGISTER QUERY two_each AS SELECT id, ts FROM city WHERE type = 'truck' WINDOW 2 ROWS PER KEY;
REGISTER QUERY until_next AS SELECT id, ts FROM city INSIDE ('M', 0, 500) WINDOW UNTIL NEXT;
REGISTER QUERY until_slower AS SELECT id, ts FROM city WHERE type = 'bus' WINDOW UNTIL NEXT.speed < speed;
CREATE TRIGGER passing FOR city AS a, city AS b WHEN a.type = 'bus' AND b.type = 'truck' AND DISTANCE(a, b) < 30 METERS AND b.ts - a.ts IN [0, 2];
REGISTER QUERY company AS SELECT a.id, b.id AS other FROM city [RANGE 3 SECONDS] a, city [RANGE 3 SECONDS] b
  WHERE a.type = 'bus' AND b.type = 'bus' AND a.id < b.id AND STAY_WITHIN(a, b, 1 KM);
REGISTER QUERY passed AS SELECT a.id, b.id AS other FROM city [RANGE 3 SECONDS] a, city [RANGE 3 SECONDS] b
  WHERE a.type = 'bus' AND b.type = 'bus' AND a.id < b.id AND PASS_WITHIN(a, b, 200 METERS);
REGISTER QUERY beside AS SELECT a.id, b.id AS other FROM city a, city b WHERE a.type = 'bus' AND b.type = 'truck' AND NN(a, b, 'k=2');
REGISTER QUERY by_district AS SELECT name, AVG(speed) AS mean, MEDIAN(speed) AS middle FROM city [TESSELLATE BY (SELECT region, name FROM districts) ROWS 20] GROUP BY name;
REGISTER QUERY seen AS SELECT type, COUNT(DISTINCT id) AS n, MIN(ts) AS first FROM city [SINCE 0] GROUP BY type;
REGISTER QUERY staying AS SELECT id FROM city INSIDE market_place PERSISTENCY 3 SECONDS;
REGISTER PATTERN moving_on AS WITH a AS (SELECT id FROM city INSIDE market_place PERSISTENCY 2 SECONDS), b AS (SELECT id FROM city INSIDE (8.237, 53.151, 4000))
  SELECT id FROM a THEN b WITHIN 1 MINUTE;
