// Package taskpage reads and writes pages of ListTasks (A2A 1.0 §3.1.4), the one list of A2A that is
// cut into pages:
//
//	GET /tasks?pageSize=50&pageToken=p
//	{"tasks":[…],"nextPageToken":"q","pageSize":50,"totalSize":120}
//
// An agent knows nothing of the gateway's callers, and lists everybody's tasks. A client that is shown
// 3 of a page's 50 entries, under a token for more, would learn how many others there are and would
// ask again and again. So the gateway fills each page from as many of the agent's as it takes, and
// writes the result into the first of them: entries are cut out and added, token and sizes replaced,
// and every other byte stays.
package taskpage
