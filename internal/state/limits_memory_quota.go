package state

import "time"

// quota is what was used of a span that ends at until: a fixed window.
type quota struct {
	used  int64
	until int64 // Unix nanoseconds
}

// lag is how far the clocks of those who share a quota may lie apart.
const lag = time.Hour

func (q *quota) kind() DrawKind { return Quota }

func (q *quota) idle(now moment) bool { return now.wall.Add(-lag).UnixNano() > q.until }

// at is the count as it stands for a Draw.
func (q *quota) at(d *Draw) quota {
	if until := d.Until.UnixNano(); until > q.until {
		return quota{until: until}
	}
	return *q
}

func (q *quota) reserve(d *Draw, got *Drawn, now moment) error {
	at := q.at(d)
	if got.OK = d.Cost <= d.Limit-at.used; !got.OK && d.Cost <= d.Limit {
		got.Wait = at.rest(now)
	}
	return nil
}

func (q *quota) settle(d *Draw, _ moment, take bool) {
	if take {
		*q = q.at(d)
		q.used += d.Cost
	}
}

func (q *quota) stand(d *Draw, now moment) (int64, time.Duration) {
	at := q.at(d)
	return max(d.Limit-at.used, 0), at.rest(now)
}

func (q *quota) rest(now moment) time.Duration {
	return max(time.Unix(0, q.until).Sub(now.wall), 0)
}
