-- Five triggers over the moored buoys of the tropical Pacific, with the reason that a meteorologist would give for each.
--
-- The file is TAO's of 1980 to 1998, a reading a day and buoy: temperatures in °C, humidity in %, winds in m/s, blowing to the east
-- (zon_winds) and to the north (mer_winds). Degrees are plane coordinates; nothing here looks across the date line.
--
--     sanderling run examples/buoys.sql --out alerts.jsonl

CREATE STREAM buoys (
  mooring_segment INT, date DATE, lon DOUBLE, lat DOUBLE, zon_winds DOUBLE, mer_winds DOUBLE, humidity DOUBLE, air_temp DOUBLE,
  sea_surface_temp DOUBLE
)
  KEY mooring_segment TIME date LOCATION (lon, lat) WITH (path = 'tao_elnino.csv.gz', tick = '1 day');

-- The edge of the warm pool moves east, as it does when El Niño begins: a buoy on the equator was cool, warm water lay west
-- of it, and within days the same buoy is warm.
CREATE TRIGGER warm_pool_moves_east
  FOR buoys AS cool, buoys AS warm, buoys AS west
  WHEN cool.sea_surface_temp < 28.2 AND ABS(cool.lat) < 1
   AND warm.sea_surface_temp > 29.2 AND ABS(warm.lat) < 1
   AND west.sea_surface_temp > 29.4 AND ABS(west.lat) < 1
   AND warm.mooring_segment = cool.mooring_segment
   AND west.lon < warm.lon AND DISTANCE(west, warm) BETWEEN 8 AND 16
   AND west.date - cool.date IN [0, 10 DAYS] AND warm.date - west.date IN [1 DAY, 10 DAYS]
  REPORT FIRST;

-- A westerly wind burst: strong winds from the west over the warm pool, where trade winds blow from the east. One buoy may have met a
-- squall; three that are neighbours, within a day, push warm water east for weeks. Buoys stand more than a degree apart, so these are three.
CREATE TRIGGER westerly_burst
  FOR 3 OF buoys AS V
  WHEN V.zon_winds > 7 AND V.location INSIDE (130, -6, 172, 6)
   AND DISTANCE(V) BETWEEN 1 AND 11 AND WITHIN 1 DAY;

-- The trade winds ease, and the water warms: with less wind less cold water comes up from below. Warmer water eases the winds
-- further, so a forecaster wants to know soon.
CREATE TRIGGER trades_ease
  FOR buoys AS strong, buoys AS easy, buoys AS later
  WHEN strong.zon_winds < -7.5 AND easy.zon_winds > -1.5
   AND strong.location INSIDE (-160, -6, -90, 6)
   AND easy.mooring_segment = strong.mooring_segment AND later.mooring_segment = strong.mooring_segment
   AND later.sea_surface_temp - strong.sea_surface_temp > 1.2
   AND easy.date - strong.date IN [1 DAY, 10 DAYS] AND later.date - easy.date IN [1 DAY, 10 DAYS]
  SELECT strong.mooring_segment AS buoy, strong.date AS blew, easy.date AS eased,
    later.sea_surface_temp - strong.sea_surface_temp AS warmer
  REPORT FIRST;

-- Cold water wells up: in days the sea at a buoy has cooled by almost a degree, so fast that the air above is still warmer than the water. At a
-- neighbour it is the same. Over one buoy it may be an instrument; over two it is a wave of the cold tongue.
CREATE TRIGGER cold_water_wells_up
  FOR buoys AS before, buoys AS cold, buoys AS neighbour
  WHEN before.location INSIDE (-142, -3, -90, 3)
   AND cold.air_temp > cold.sea_surface_temp + 0.3 AND neighbour.air_temp > neighbour.sea_surface_temp + 0.3
   AND before.mooring_segment = cold.mooring_segment
   AND before.sea_surface_temp - cold.sea_surface_temp > 0.8
   AND before BEFORE cold AND cold.date - before.date <= 3 DAYS
   AND DISTANCE(cold, neighbour) BETWEEN 1 AND 5 AND ABS(neighbour.date - cold.date) <= 1 DAY
  REPORT FIRST;

-- Hot, humid and still, and the next day a gale not far away: the air has risen, and thunderstorms feed on it.
CREATE TRIGGER storm_after_stillness
  FOR buoys AS still, buoys AS gale
  WHEN still.sea_surface_temp > 29 AND still.humidity > 84
   AND still.zon_winds * still.zon_winds + still.mer_winds * still.mer_winds < 4
   AND gale.zon_winds * gale.zon_winds + gale.mer_winds * gale.mer_winds > 81
   AND gale.date - still.date IN [1 DAY, 2 DAYS] AND DISTANCE(still, gale) <= 6
  SELECT still.mooring_segment AS still_at, gale.mooring_segment AS gale_at, gale.date AS day,
    DISTANCE(still, gale) AS degrees;
