"""How alembic takes the steps: on the connection that `adapters.postgres.schema` hands it."""

from alembic import context

from adapters.postgres.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
