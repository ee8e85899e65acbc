package house_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// readmeWords is how long README.md may be: it is for somebody who decides in a minute. What
// explains more has a page in docs.
const readmeWords = 900

// TestReadmeIsShort counts the words of README.md, commands and tables included.
func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	text := readmeText(t)
	if n := len(strings.Fields(text)); n > readmeWords || n < readmeWords/3 {
		t.Errorf("README.md has %d words, and should have at most %d: move what explains to a page of docs", n, readmeWords)
	}
}

// TestReadmeMeasured: the ratios that README.md names are those that docs/performance.md has
// recorded last.
func TestReadmeMeasured(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := readmeText(t)
	_, section, ok := strings.Cut(readme, "## Performance\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !ok {
		t.Fatal("README.md has no section on performance")
	}
	for _, workload := range []string{"unary", "unary-h2", "idle"} {
		_, table, _ := strings.Cut(string(page), "\n### "+workload+"\n")
		row := regexp.MustCompile(`(?m)^\| gateway \| [\d.,]+ \(([\d.]+)\)`).FindStringSubmatch(table)
		if row == nil {
			t.Fatalf("docs/performance.md has no row of the gateway in %s", workload)
		}
		if !strings.Contains(section, row[1]+" ×") {
			t.Errorf("README.md should say %s × for %s, as docs/performance.md does", row[1], workload)
		}
	}
}

// githubWidth is how wide GitHub shows a README on a screen, in CSS pixels; readable is the
// smallest letter that people read there without zooming.
const githubWidth, readable = 830, 12

// TestReadmePicture: both drawings of README.md are there, for light and dark, say the same, and
// their letters are large enough at the width at which they are shown.
func TestReadmePicture(t *testing.T) {
	t.Parallel()
	shown := regexp.MustCompile(`(?:srcset|src)="([^"]+\.svg)"`).FindAllStringSubmatch(readmeText(t), -1)
	if len(shown) != 2 {
		t.Fatalf("README.md shows %d drawings, expected one for light and one for dark", len(shown))
	}
	var said []string
	for _, m := range shown {
		said = append(said, wordsOfDrawing(t, m[1]))
	}
	if said[0] != said[1] || said[0] == "" {
		t.Errorf("the drawings say different things:\n%s\n%s", said[0], said[1])
	}
}

// wordsOfDrawing reads the texts of an SVG, and holds their sizes to what is readable.
func wordsOfDrawing(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var words strings.Builder
	scale := 0.0
	for d := xml.NewDecoder(file); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				switch n, _ := strconv.ParseFloat(a.Value, 64); {
				case a.Name.Local == "width" && token.Name.Local == "svg":
					scale = min(1, githubWidth/n)
				case a.Name.Local == "font-size" && n*scale < readable:
					t.Errorf("%s: letters of %s are too small at %d pixels", path, a.Value, githubWidth)
				}
			}
		case xml.CharData:
			words.WriteString(strings.TrimSpace(string(token)) + "\n")
		}
	}
	if scale == 0 {
		t.Errorf("%s has no width", path)
	}
	return strings.TrimSpace(words.String())
}

func readmeText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
