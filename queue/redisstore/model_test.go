package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fairdoor-gate/fairdoor/queue/redisstore"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redismodel"
	"github.com/fairdoor-gate/fairdoor/queue/redisstore/redistest"
)

// openModel opens the store on a model of a server.
func openModel(t *testing.T) *redisstore.Store {
	t.Helper()
	server := redismodel.New(time.Now, "a1")
	s, warnings, err := redisstore.OpenOver(context.Background(), "redis://model:6379", func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go server.Serve(far, nil)
		return near, nil
	})
	require.NoError(t, err)
	require.Empty(t, warnings)
	s.SetBudget(patience)
	s.SetSlack(0)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// The model replies to commands of scripts as a real server does.
func TestTheModelRepliesAsAServer(t *testing.T) {
	t.Parallel()
	server, model := open(t, redistest.Start(t, redistest.Options{}).URL()).Client(), openModel(t).Client()
	rapid.Check(t, func(rt *rapid.T) {
		for _, c := range []redis.UniversalClient{server, model} {
			require.NoError(rt, c.FlushAll(context.Background()).Err())
		}
		for range rapid.IntRange(1, 60).Draw(rt, "commands") {
			args := rapid.OneOf(commandsOfScripts()...).Draw(rt, "command")
			require.Equal(rt, called(server, args), called(model, args), "%q", args)
		}
	})
}

// called is what a script is told by a command. Of an error it is the first word.
func called(c redis.UniversalClient, args []any) string {
	reply, err := c.Eval(context.Background(), "return redis.call(unpack(ARGV))", nil, args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		word, _, _ := strings.Cut(err.Error(), " ")
		return word
	}
	return fmt.Sprintf("%#v", reply)
}

// commandsOfScripts are the commands that the scripts use, with any arguments that they might have.
func commandsOfScripts() []*rapid.Generator[[]any] {
	key, name := rapid.SampledFrom([]string{"a", "b", "c"}), rapid.SampledFrom([]string{"x", "y", "z", "z\x00", "\xff\xff", ""})
	number := rapid.SampledFrom([]string{"0", "1", "-1", "2", "7", "1622130840123", "-1622130840123456", "0.5", "-3"})
	whole := rapid.SampledFrom([]string{"0", "1", "-1", "2", "-2", "5", "-100", "100"})
	bound := rapid.SampledFrom([]string{"0", "(0", "1", "(1", "-inf", "+inf", "(7", "7", "1622130840123", "(1622130840123", "x"})
	word := rapid.Just[string]
	command := func(parts ...*rapid.Generator[string]) *rapid.Generator[[]any] {
		return rapid.Custom(func(t *rapid.T) []any {
			args := make([]any, len(parts))
			for i, p := range parts {
				args[i] = p.Draw(t, "argument")
			}
			return args
		})
	}
	return []*rapid.Generator[[]any]{
		command(word("HSET"), key, name, number, name, number), command(word("HGET"), key, name), command(word("HMGET"), key, name, name),
		command(word("HDEL"), key, name, name), command(word("HINCRBY"), key, name, whole), command(word("HGETALL"), key),
		command(word("ZADD"), key, number, name, number, name), command(word("ZADD"), key, rapid.SampledFrom([]string{"NX", "XX", "GT", "LT"}), number, name), command(word("ZADD"), key, number, name, number, name),
		command(word("ZREM"), key, name, name), command(word("ZSCORE"), key, name), command(word("ZMSCORE"), key, name, name), command(word("ZCARD"), key),
		command(word("ZCOUNT"), key, bound, bound), command(word("ZRANK"), key, name), command(word("ZINCRBY"), key, number, name),
		command(word("ZRANGE"), key, whole, whole), command(word("ZRANGE"), key, whole, whole, word("WITHSCORES")),
		command(word("ZRANGEBYSCORE"), key, bound, bound), command(word("ZRANGEBYSCORE"), key, bound, bound, word("WITHSCORES"), word("LIMIT"), rapid.SampledFrom([]string{"0", "1", "5"}), whole),
		command(word("ZREVRANGEBYSCORE"), key, bound, bound, word("WITHSCORES"), word("LIMIT"), word("0"), word("1")),
		command(word("ZREMRANGEBYRANK"), key, whole, whole), command(word("RPUSH"), key, name, name), command(word("LPOP"), key, rapid.SampledFrom([]string{"0", "1", "2", "9"})),
		command(word("DEL"), key), command(word("UNLINK"), key, key), command(word("EXISTS"), key, key), command(word("TYPE"), key), command(word("PEXPIRE"), key, rapid.SampledFrom([]string{"1000000", "0", "-5", "x"})),
	}
}

// The libraries of scripts do in the model what they do on a server.
func TestTheModelRunsScriptsAsAServer(t *testing.T) {
	t.Parallel()
	server, model := open(t, redistest.Start(t, redistest.Options{}).URL()).Client(), openModel(t).Client()
	for _, source := range []string{
		"return struct.pack('>dBbI2i2I6c3s', 1.5, 200, -3, 70000, -2, 2^40, 'abcd', 'end')",
		"return {struct.unpack('>dBbI2i2I6c3s', struct.pack('>dBbI2i2I6c3s', 1.5, 200, -3, 7, -2, 2^40, 'abcd', 'end'))}",
		"return struct.size('>ddBI6')", "return struct.unpack('>d', 'short')", "return struct.pack('>c3', 'ab')",
		"return cjson.encode({1, 2.5, true, 'x'})", "return cjson.decode('{\"a\": [1, 2, {\"b\": null}]}').a", "return cjson.decode('{')",
		"return cmsgpack.unpack(cmsgpack.pack({1, 'x', true})) ", "return cmsgpack.unpack('\\200\\1')",
		"return string.format('%d %.17g %.0f', 1622130840123, 0.1, 2^40)", "return {1, 2.9, -2.9, false, true, 'x', nil, 5}", "return {ok = 'fine'}", "return {err = 'MINE is wrong'}",
		"return redis.error_reply('MINE is wrong')",
		"local x = 1 local function f() error('a', 0) end local function g() return x end pcall(f) x = 2 return g()",
		"local x, keep = 1, nil local function f() local y = x + 1 keep = function() return y end error('a', 0) end pcall(f) local z = {9, 9, 9} return keep()",
		"local x = 1 local function f() if not pcall(struct.unpack, '>d', 'x') then x = x + 1 end return x end return {pcall(f), select(2, pcall(f)), x}",
		"return {pcall(error, 'a', 0)}", "return select('#', pcall(function() return nil, nil end))", "error('MINE is wrong', 0)", "redis.call('SET', 'k', 'v') return redis.call('HGET', 'k', 'f')",
		"redis.call('SET', 'k', 'v') return tostring(select(2, pcall(redis.call, 'HGET', 'k', 'f')))", "return redis.pcall('HGET', 'k').err and 1", "return tostring(redis.call('HGET', 'none', 'x'))",
		"return type(redis.call('TIME')[1])", `local all = {} for _, text in ipairs({'16720773293607761403', '1e3', '0x10', '', ' 5 ', '12x', '-7', '1.5', '0x', '1_0', 'x'}) do all[#all + 1] = string.format('%.17g', tonumber(text) or -1) end return all`, "return {unpack({1, 2, 3}, 2, 3)}", "return #string.rep('ab', 3) .. tostring(tonumber('12x')) .. tostring(tonumber(false))",
	} {
		require.Equal(t, ran(server, source), ran(model, source), source)
	}
}

func ran(c redis.UniversalClient, source string) string {
	reply, err := c.Eval(context.Background(), source, nil).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		word, _, _ := strings.Cut(err.Error(), " ")
		return word
	}
	return fmt.Sprintf("%#v", reply)
}
