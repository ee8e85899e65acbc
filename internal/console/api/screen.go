package api

// Screen is a row of the table of screens: what one file declares, and all there is to say
// about it. Requests are routed, navigation, access and documentation are made by it.
type Screen struct {
	Title string // of the link to the page, or of what the operations are about
	// Page is the path of the page below /ui, with $id for what is not fixed; "" where the
	// operations are for programs, or for the pages of other screens.
	Page  string
	Link  bool   // the navigation leads to the page
	Shows string // what the page shows and does, for docs/admin.md; "" for none
	// Operations are those that the page is made with, beside those of other screens.
	Operations []Operation
	// Close ends what goes on beside requests. It may be nil.
	Close func()
}

// Role is the least that makes sense of the page: that of the operation that takes least.
func (s *Screen) Role() Role {
	least := Admin
	for i := range s.Operations {
		if r := s.Operations[i].Role; least.May(r) {
			least = r
		}
	}
	return least
}
