package trust

// candidate is a card that is judged.
type candidate struct {
	Entry

	raw     []byte // as the agent sent it
	doc     []byte // what may be used of it
	profile *profile
	sure    bool // a signature that is required, or a digest, vouches for it
	own     int  // of Changes, those that are not about other agents
}

// refused reports whether something about the card itself does not allow it.
func (c *candidate) refused() bool { return c.State == Refused }

// comes says whether it comes into force by itself, that is, without a person.
func (c *candidate) comes() bool { return c.State == Accepted || c.State == Alerted }

// ruling is the ruling on the candidate, with the card that is to be gone by: that may be another
// one, as a card that waits for a person changes nothing.
func (c *candidate) ruling(s State, why string, inForce []byte, standing string) Ruling {
	r := Ruling{Entry: c.Entry, InForce: inForce, Standing: standing}
	r.State, r.Why = s, why
	return r
}
