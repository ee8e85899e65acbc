// The pages are the documents as they are; nothing generated is committed.
import { posix } from 'node:path'
import { defineConfig } from 'vitepress'

const repository = 'https://github.com/a2a-gateway/a2a-gateway/blob/main/'

// What a page points at outside docs is in the repository only. That it is there, TestDocumentsPointAtWhatExists knows.
function outside(md) {
  md.core.ruler.push('outside', (state) => {
    const page = state.env.relativePath ?? ''
    for (const block of state.tokens) {
      for (const token of block.children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null
        if (!href || /^(#|\/|[a-z]+:)/.test(href)) continue
        // Links are those of the file, not of the page that a README becomes; both are in the same directory.
        const target = posix.join('docs', posix.dirname(page), href)
        if (!target.startsWith('docs/')) token.attrSet('href', repository + target)
      }
    }
  })
}

const page = (text, link) => ({ text, link })

const recipes = [
  page('All recipes', '/recipes/'),
  page('Skill per group', '/recipes/skill-per-group'),
  page('No secrets leave', '/recipes/no-secrets-leave'),
  page('A human agrees to refunds', '/recipes/refunds-with-approval'),
  page('Your agents in an MCP host', '/recipes/mcp-host'),
  page('Extension for the fleet', '/recipes/extension-for-the-fleet'),
  page('Audit to a SIEM', '/recipes/audit-to-siem'),
  page('Audit to PostgreSQL', '/recipes/audit-to-postgres'),
  page('Identity providers', '/recipes/identity-providers'),
  page('mTLS with SPIFFE ids', '/recipes/mtls-between-agents'),
  page("A partner's agents", '/recipes/partner-agents'),
  page('Browser clients', '/recipes/browser-clients'),
  page('Clients without headers', '/recipes/clients-without-headers'),
  page('Agents of kagent', '/recipes/kagent'),
  page('Two replicas', '/recipes/two-replicas'),
  page('Upgrade without downtime', '/recipes/zero-downtime-upgrade'),
]
const tutorials = [
  page('All tutorials', '/tutorials/'),
  page('Your first agent', '/tutorials/first-agent'),
  page('Scopes for each skill', '/tutorials/per-skill-scopes'),
  page('Enforce an extension', '/tutorials/enforce-an-extension'),
  page('The audit log', '/tutorials/audit'),
  page('Mixed versions', '/tutorials/mixed-versions'),
]
const guides = [
  page('Installing', '/installing'),
  page('Identity', '/identity'),
  page('Policy', '/policy'),
  page('Guards', '/guards'),
  page('Approvals', '/approvals'),
  page('Extensions', '/extensions/'),
  page('Versions and bindings', '/versions'),
  page('Addresses', '/addresses'),
  page('Quirks', '/quirks'),
  page('Cards', '/cards'),
  page('Signatures', '/signatures'),
  page('Catalog', '/catalog'),
  page('MCP', '/mcp'),
  page('Streams', '/streams'),
  page('Push notifications', '/push'),
  page('Outbound proxy', '/egress'),
  page('Fleet', '/fleet'),
  page('Frameworks and SDKs', '/integrations/'),
  page('Interoperability', '/interop'),
  page('The official TCK', '/tck'),
]
const operations = [
  page('Operations', '/operations'),
  page('Administration', '/admin'),
  page('TLS', '/tls'),
  page('State', '/state'),
  page('Audit log', '/audit'),
  page('Telemetry', '/telemetry'),
  page('Anomalies', '/anomalies'),
  page('Overload', '/overload'),
  page('Performance', '/performance'),
]
const reference = [
  page('All of it', '/reference/'),
  page('Command line', '/reference/cli'),
  page('Configuration', '/reference/config'),
  page('Admin API', '/reference/admin-api'),
  page('Errors', '/errors'),
  page('Metrics', '/metrics'),
  page('Glossary', '/glossary'),
]
const architecture = [
  page('Promises and tests', '/promises'),
  page('Comparison', '/comparison'),
  page('Architecture', '/architecture'),
  page('Design', '/design'),
  page('Threat model', '/threat-model'),
  page('Decisions', '/decisions/'),
]

export default defineConfig({
  title: 'a2a-gateway',
  description: 'A reverse proxy in front of a fleet of A2A agents',
  outDir: '../bin/site',
  cacheDir: '../bin/site-cache',
  rewrites: { 'README.md': 'index.md', ':dir/README.md': ':dir/index.md' },
  ignoreDeadLinks: false,
  markdown: {
    config: outside,
    // As GitHub and the test of links name headings.
    anchor: {
      slugify: (s) => s.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').trim().replaceAll(' ', '-'),
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      page('Recipes', '/recipes/'),
      page('Tutorials', '/tutorials/'),
      page('Guides', '/identity'),
      page('Operations', '/operations'),
      page('Reference', '/reference/'),
      page('Architecture', '/architecture'),
      page('Decisions', '/decisions/'),
    ],
    sidebar: [
      { text: 'Recipes', items: recipes },
      { text: 'Tutorials', items: tutorials },
      { text: 'Guides', items: guides },
      { text: 'Operations', items: operations },
      { text: 'Reference', items: reference },
      { text: 'Architecture', items: architecture },
    ],
  },
})
