-- Tasks of no tenant are not found by tenant. Each index is a page that every new task writes.
DROP INDEX tasks_by_tenant;
CREATE INDEX tasks_by_tenant ON records (agent, tenant, created) WHERE kind = 1 AND tenant <> x'';
