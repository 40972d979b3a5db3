package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// rawLimit is how many objects a server is asked for at a time.
const rawLimit = "500"

// ErrForbidden: the account may not read it.
var ErrForbidden = errors.New("the account may not read it")

// List reads all objects at a path of the API, page by page, as JSON; each page is given to take. A path that the
// server does not serve has no objects; what the account may not read is ErrForbidden. Nothing is changed.
func (c *Connection) List(ctx context.Context, path string, take func(page []byte) error) error {
	next := ""
	for {
		r := c.client.CoreV1().RESTClient().Get().AbsPath(path).Param("limit", rawLimit).SetHeader("Accept", "application/json")
		if next != "" {
			r = r.Param("continue", next)
		}
		text, err := r.Do(ctx).Raw()
		if statusCode(err) == http.StatusNotFound {
			return nil
		}
		if err != nil {
			return c.unread(path, err)
		}
		if err := take(text); err != nil {
			return err
		}
		if next = continued(text); next == "" {
			return nil
		}
	}
}

// Readable reports, as an error that says what mends it, that the server does not show what is at a path of the API.
func (c *Connection) Readable(ctx context.Context, path string) error {
	_, err := c.client.CoreV1().RESTClient().Get().AbsPath(path).Param("limit", "1").SetHeader("Accept", "application/json").Do(ctx).Raw()
	if err != nil {
		return c.unread(path, err)
	}
	return nil
}

// unread says why nothing was read at a path.
func (c *Connection) unread(path string, err error) error {
	if statusCode(err) == http.StatusForbidden {
		return fmt.Errorf("%s: %w", path, ErrForbidden)
	}
	return fmt.Errorf("%s: %w", path, c.Explain(err))
}

// continued is where a list's next page begins, empty where there is none.
func continued(page []byte) string {
	var list struct {
		Metadata struct{ Continue string }
	}
	_ = json.Unmarshal(page, &list) // whoever took the page says so better
	return list.Metadata.Continue
}
