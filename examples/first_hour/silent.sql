-- Which of Riga's buses and trams have said nothing for 5 minutes? It is told when that is so, though nobody reports then.
-- The file is in order of arrival, and what is in it may be 11 minutes old.
--
--     sanderling run silent.sql --data folder

CREATE STREAM buses KEY vehicle_id TIME timestamp LOCATION (longitude, latitude)
  WITH (path = 'vehicle_positions.csv.gz', tick = '10 seconds', lateness = '11 minutes');

REGISTER QUERY silent AS SELECT vehicle_id, timestamp AS last FROM buses WHERE TICK() - timestamp > 300;
