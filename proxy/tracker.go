package proxy

// mended reports whether the agent's first stream was followed by others.
func (a *subscriber) mended() bool {
	if a.task == "" {
		return false
	}
	t := a.tracker(a.x.Upstream)
	t.Mu.Lock()
	defer t.Mu.Unlock()
	return !t.Regained.IsZero()
}
