-- What each owner has in a queue; see state.Item.Owner.
CREATE TABLE shares (
	queue   BLOB    NOT NULL,
	owner   BLOB    NOT NULL, -- what stands before the first slash of the line; empty where none does
	waiting INTEGER NOT NULL,
	dead    INTEGER NOT NULL,
	PRIMARY KEY (queue, owner)
) STRICT, WITHOUT ROWID;

INSERT INTO shares (queue, owner, waiting, dead)
	SELECT queue, substr(line, 1, max(instr(line, x'2f') - 1, 0)), sum(place <> 3), sum(place = 3) FROM items GROUP BY 1, 2;

CREATE INDEX items_dead_of ON items (queue, substr(line, 1, max(instr(line, x'2f') - 1, 0)), at) WHERE place = 3;

CREATE TRIGGER share_comes AFTER INSERT ON items BEGIN
	INSERT INTO shares (queue, owner, waiting, dead) VALUES (NEW.queue, substr(NEW.line, 1, max(instr(NEW.line, x'2f') - 1, 0)), 1, 0)
		ON CONFLICT (queue, owner) DO UPDATE SET waiting = waiting + 1;
END;

CREATE TRIGGER share_goes AFTER DELETE ON items BEGIN
	UPDATE shares SET waiting = waiting - (OLD.place <> 3), dead = dead - (OLD.place = 3)
		WHERE queue = OLD.queue AND owner = substr(OLD.line, 1, max(instr(OLD.line, x'2f') - 1, 0));
	DELETE FROM shares WHERE queue = OLD.queue AND owner = substr(OLD.line, 1, max(instr(OLD.line, x'2f') - 1, 0))
		AND waiting = 0 AND dead = 0;
END;

CREATE TRIGGER share_changes AFTER UPDATE OF place ON items WHEN (OLD.place = 3) <> (NEW.place = 3) BEGIN
	UPDATE shares SET waiting = waiting + (OLD.place = 3) - (NEW.place = 3), dead = dead - (OLD.place = 3) + (NEW.place = 3)
		WHERE queue = OLD.queue AND owner = substr(OLD.line, 1, max(instr(OLD.line, x'2f') - 1, 0));
END;
