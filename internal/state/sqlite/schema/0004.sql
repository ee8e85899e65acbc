-- Things to do; see state.Queue. Times are those of state.Micros.
CREATE TABLE items (
	number   INTEGER NOT NULL PRIMARY KEY, -- the order in a line
	queue    BLOB    NOT NULL,
	id       BLOB    NOT NULL,
	line     BLOB    NOT NULL,
	place    INTEGER NOT NULL, -- 0 behind others of its line, 1 the first, 2 that and leased, 3 dead
	at       INTEGER NOT NULL, -- when it is due, its lease ends (2), or it is forgotten (3)
	due      INTEGER NOT NULL,
	pushed   INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	holder   BLOB,             -- the latest, until the item is settled
	error    BLOB    NOT NULL,
	data     BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX items_by_id ON items (queue, id);
CREATE INDEX items_by_line ON items (queue, line, place, number);
CREATE INDEX items_by_time ON items (queue, place, at);
CREATE INDEX items_by_age  ON items (queue, pushed) WHERE place <> 3;
CREATE INDEX items_dead    ON items (queue, id)     WHERE place = 3;

-- How many there are, which takes long to count.
CREATE TABLE queues (
	name    BLOB    NOT NULL PRIMARY KEY,
	waiting INTEGER NOT NULL,
	dead    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER item_comes AFTER INSERT ON items BEGIN
	INSERT INTO queues (name, waiting, dead) VALUES (NEW.queue, 1, 0)
		ON CONFLICT (name) DO UPDATE SET waiting = waiting + 1;
END;

CREATE TRIGGER item_goes AFTER DELETE ON items BEGIN
	UPDATE queues SET waiting = waiting - (OLD.place <> 3), dead = dead - (OLD.place = 3) WHERE name = OLD.queue;
END;

CREATE TRIGGER item_changes AFTER UPDATE OF place ON items WHEN (OLD.place = 3) <> (NEW.place = 3) BEGIN
	UPDATE queues SET waiting = waiting + (OLD.place = 3) - (NEW.place = 3), dead = dead - (OLD.place = 3) + (NEW.place = 3)
		WHERE name = OLD.queue;
END;
