package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairdoor-gate/fairdoor/cmd/fairdoor/config"
)

func TestAgentsPublishTheirKeysAtTheirHosts(t *testing.T) {
	gate, err := gateConfig(&config.Config{Origin: "http://127.0.0.1:1", SignatureAgents: []string{"Bot.example"}}, nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"bot.example": "https://bot.example/.well-known/http-message-signatures-directory"}, gate.SignatureAgents)
}
