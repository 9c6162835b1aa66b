"""Of CREATE TRIGGER: events dealt to triggers, kept as long as they are needed, searched for solutions."""
