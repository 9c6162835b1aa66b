# docker build -t sanderling .
# docker run --rm -v "$PWD:/data" sanderling run depot.sql
FROM python:3.12-slim-bookworm AS wheel
WORKDIR /src
COPY . .
# tools/web fetches Node, as a Python package. Without a page all else works.
RUN python -m venv .venv && (tools/web || echo "the page is not built: everything else works") \
    && pip install --no-cache-dir "$(grep -E '^setuptools==' requirements.lock)" wheel \
    && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /dist .

FROM python:3.12-slim-bookworm
RUN apt-get update && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*
COPY requirements.lock /tmp/
RUN pip install --no-cache-dir --no-deps -r /tmp/requirements.lock
COPY --from=wheel /dist /dist
# Compiled once, here, and not by every container.
RUN pip install --no-cache-dir --no-deps /dist/*.whl && python -m sanderling.demo.rehearse && rm -rf /dist
ENV PYSPARK_PYTHON=python
WORKDIR /data
EXPOSE 8080
ENTRYPOINT ["sanderling"]
CMD ["--help"]
