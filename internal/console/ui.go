package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/server/screen"
)

// built are the pages of the console's, as ui/ is built from its sources by make ui.
//
//go:embed ui/dist/index.html ui/dist/licenses.md ui/dist/assets
var built embed.FS

// uiPath is where they are.
const uiPath = "/ui/"

// medias of what there is, by extension. Those of the machine are not asked. The table of
// the machine may say anything of .js, and nosniff has browsers refuse a script of another
// type.
var medias = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".md":   "text/plain; charset=utf-8",
}

// asset is one file of them.
type asset struct {
	media  string
	body   []byte
	packed []byte // gzip; nil where that is no shorter
}

// assets are all files by their paths. They are packed once, and not before somebody asks.
// Packing takes some ten milliseconds, which a gateway whose console nobody opens does not
// spend.
func assets() map[string]asset {
	all := map[string]asset{}
	root, err := fs.Sub(built, "ui/dist")
	if err != nil {
		return all
	}
	_ = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error { // nothing fails that is in memory
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		a := asset{media: medias[path.Ext(name)], body: body}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(body)
		if _ = z.Close(); b.Len() < len(body) {
			a.packed = b.Bytes()
		}
		all[name] = a
		return nil
	})
	return all
}

// page answers requests for the pages; false where it is none. They say nothing that is not
// in the program anybody can have, so that they need no credential. A path below /ui/ that
// is no file is one of a page, such as /ui/agents/billing: the script in index.html shows
// what belongs there.
func (s *Console) page(w http.ResponseWriter, r *http.Request) bool {
	home := r.URL.Path == "/" || r.URL.Path == strings.TrimSuffix(uiPath, "/")
	if !home && !strings.HasPrefix(r.URL.Path, uiPath) {
		return false
	}
	host, ok := hostname.Canonical(r.Host)
	switch {
	case !ok || !s.hosts[host]:
		return false // refused as any other
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false
	case r.URL.RawPath != "" || r.ContentLength != 0 || screen.Request(r, s.limits.Screen()) != nil:
		return false
	case home:
		w.Header().Set("Location", uiPath)
		w.WriteHeader(http.StatusFound)
		return true
	}
	name := strings.TrimPrefix(r.URL.Path, uiPath)
	a, found := s.assets()[name]
	if !found {
		if strings.HasPrefix(name, "assets/") {
			return false // of another build; a page in its place would be taken for a script
		}
		a = s.assets()["index.html"] // which knows the path
	} else if strings.HasPrefix(name, "assets/") {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // their names have their digests
	}
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("Vary", "Accept-Encoding")
	body := a.body
	if a.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.packed
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the operator has gone
	}
	return true
}
