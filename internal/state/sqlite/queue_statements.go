package sqlite

import "database/sql"

const (
	itemColumns = `number, id, line, data, pushed, due, attempts, error, place = 3`

	// led says whether a line has somebody who is the first.
	led = `EXISTS (SELECT 1 FROM items WHERE queue = ?1 AND line = ?2 AND place IN (1, 2))`

	// pushItem compares with the limit the number of items that wait and, once more, those of the same
	// owner: one owner has as many as there is room left, so half of the queue alone.
	pushItem = `INSERT INTO items (queue, line, id, data, pushed, due, at, place, attempts, error)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6, NOT ` + led + `, 0, x''
		WHERE ?7 = 0 OR coalesce((SELECT waiting FROM queues WHERE name = ?1), 0)
			+ coalesce((SELECT waiting FROM shares WHERE queue = ?1 AND owner = ?8), 0) < ?7
		ON CONFLICT (queue, id) DO NOTHING`
	// leadItem has the oldest of those behind become the first of its line.
	leadItem = `UPDATE items SET place = 1 WHERE number =
		(SELECT number FROM items WHERE queue = ?1 AND line = ?2 AND place = 0 ORDER BY number LIMIT 1)`

	forgetItems = `DELETE FROM items WHERE number IN
		(SELECT number FROM items WHERE queue = ?1 AND place = 3 AND at <= ?2 ORDER BY at LIMIT ?3)`
	endLeases = `UPDATE items SET place = 1, at = due WHERE queue = ?1 AND place = 2 AND at <= ?2`
	// takeItems leases the first of each line that is due, the longest due first.
	takeItems = `UPDATE items SET place = 2, at = ?3, holder = ?4 WHERE number IN
		(SELECT number FROM items WHERE queue = ?1 AND place = 1 AND at <= ?2 ORDER BY at LIMIT ?5)
		RETURNING ` + itemColumns
	anyItem = `SELECT EXISTS (SELECT 1 FROM items WHERE queue = ?1 AND place IN (1, 2, 3) AND at <= ?2)`

	doneItem  = `DELETE FROM items WHERE queue = ?1 AND id = ?2 AND holder = ?3 RETURNING line`
	againItem = `UPDATE items SET place = 1, at = ?4, due = ?4, attempts = attempts + 1, error = ?5, holder = NULL
		WHERE queue = ?1 AND id = ?2 AND holder = ?3`
	buryItem = `UPDATE items SET place = 3, at = ?4, attempts = attempts + 1, error = ?5, holder = NULL
		WHERE queue = ?1 AND id = ?2 AND holder = ?3 RETURNING line`

	// crowded says whether there are more dead items than may be.
	crowded = `SELECT coalesce((SELECT dead FROM queues WHERE name = ?1), 0)
		+ coalesce((SELECT dead FROM shares WHERE queue = ?1 AND owner = ?2), 0) > ?3`
	forgetOldest = `DELETE FROM items WHERE number = (SELECT number FROM items
		WHERE queue = ?1 AND substr(line, 1, max(instr(line, x'2f') - 1, 0)) = ?2 AND place = 3 ORDER BY at LIMIT 1)`

	deadLine = `SELECT line FROM items WHERE queue = ?1 AND id = ?2 AND place = 3 AND at > ?3`
	// reviveItem gives a new number, the highest: who is revived stands last in its line.
	reviveItem = `UPDATE items SET number = (SELECT max(number) + 1 FROM items), place = NOT ` + led + `,
		at = ?4, due = ?4, attempts = 0, error = x'' WHERE queue = ?1 AND id = ?3`
	removeItem = `DELETE FROM items WHERE queue = ?1 AND id = ?2 RETURNING line, place`
	removeLine = `DELETE FROM items WHERE queue = ?1 AND line = ?2`

	hasItem     = `SELECT EXISTS (SELECT 1 FROM items WHERE queue = ?1 AND id = ?2)`
	listWaiting = `SELECT ` + itemColumns + ` FROM items WHERE queue = ?1 AND id > ?2 AND place <> 3 ORDER BY id LIMIT ?3`
	listDead    = `SELECT ` + itemColumns + ` FROM items WHERE queue = ?1 AND id > ?2 AND place = 3 ORDER BY id LIMIT ?3`
	// queueDepth reads counts that triggers keep, as counting rows takes long in a full queue. Dead
	// items whose time is over are in the count until a Take removes them.
	queueDepth = `SELECT
		coalesce((SELECT waiting FROM queues WHERE name = ?1), 0),
		coalesce((SELECT dead FROM queues WHERE name = ?1), 0)
			- (SELECT count(*) FROM items WHERE queue = ?1 AND place = 3 AND at <= ?2),
		coalesce((SELECT min(pushed) FROM items WHERE queue = ?1 AND place <> 3), 0)`
)

// queueReads are the statements of queues for those who only read.
type queueReads struct{ any, waiting, dead, depth *sql.Stmt }

// statements are the texts for the fields of r.
func (r *queueReads) statements() statements {
	return statements{&r.any: anyItem, &r.waiting: listWaiting, &r.dead: listDead, &r.depth: queueDepth}
}

// queuePuts are those of the writer.
type queuePuts struct {
	push, has, lead        *sql.Stmt // for Push; lead also wherever the first of a line goes
	forget, end, take      *sql.Stmt // for Take, in this order
	done, again, bury      *sql.Stmt // of the holder alone
	crowded, forgetOldest  *sql.Stmt // for Bury, where dead items are bounded
	line, revive           *sql.Stmt // for Revive: the line of a dead item, and the item into it
	removeItem, removeLine *sql.Stmt // whoever holds them
}

// statements are the texts for the fields of p.
func (p *queuePuts) statements() statements {
	return statements{
		&p.push: pushItem, &p.has: hasItem, &p.lead: leadItem,
		&p.forget: forgetItems, &p.end: endLeases, &p.take: takeItems,
		&p.done: doneItem, &p.again: againItem, &p.bury: buryItem,
		&p.crowded: crowded, &p.forgetOldest: forgetOldest,
		&p.line: deadLine, &p.revive: reviveItem,
		&p.removeItem: removeItem, &p.removeLine: removeLine,
	}
}
