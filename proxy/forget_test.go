package proxy

// ForgetCatalog has the next reader of the catalog be the first of its kind.
func (p *Proxy) ForgetCatalog() { clear(p.browse.Lists) }
