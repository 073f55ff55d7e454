package origin_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/proxy/origin"
)

// A visitor may go on with a request after the answer has begun.
func TestRequestsAndAnswersGoBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	back := site(t, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		assert.NoError(t, control.EnableFullDuplex())
		w.WriteHeader(http.StatusOK)
		assert.NoError(t, control.Flush())
		in := bufio.NewScanner(r.Body)
		for in.Scan() {
			fmt.Fprintf(w, "%s heard\n", in.Text())
			assert.NoError(t, control.Flush())
		}
	})
	both(t, func(t *testing.T, with func(*origin.Config)) {
		srv, _ := gate(t, back.URL, with)
		conn := dial(t, srv.URL)
		in := bufio.NewReader(conn)
		_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
		require.NoError(t, err)
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		lines := bufio.NewScanner(resp.Body)
		for i := range 100 {
			line := fmt.Sprintf("line %d\n", i)
			_, err := fmt.Fprintf(conn, "%x\r\n%s\r\n", len(line), line)
			require.NoError(t, err)
			require.True(t, lines.Scan())
			assert.Equal(t, fmt.Sprintf("line %d heard", i), lines.Text())
		}
		_, err = io.WriteString(conn, "0\r\n\r\n")
		require.NoError(t, err)
		assert.False(t, lines.Scan())
		require.NoError(t, lines.Err())
	})
}
