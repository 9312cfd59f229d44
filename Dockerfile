# The program as it is: TypeScript runs from its sources. Only the pages are built, once, in a stage that is left behind.
#
#   docker build -t fillpath .
#
# The Node that the tests run on, which is the lockfile's (a test holds the two together).
ARG NODE_VERSION=26.10.0
FROM node:${NODE_VERSION}-slim AS pages

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY web ./web
RUN node web/build.ts

FROM node:${NODE_VERSION}-slim

WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No package of ours has an install script to run. The Node that the lockfile brings is left out: the image has its own.
RUN npm ci --omit=dev --ignore-scripts \
    && npm cache clean --force \
    && rm -rf node_modules/node-linux-* node_modules/.bin/node
COPY LICENSE ./
COPY bin ./bin
COPY src ./src
COPY --from=pages /app/web/dist ./web/dist

# The outbox where there is no SMTP_URL; with ROLE=all and no DATABASE_URL everything.
RUN install -d -o 1000 -g 1000 -m 700 /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
EXPOSE 8080

# By number, so that Kubernetes can see that it is not root.
USER 1000:1000
CMD ["node", "src/main.ts"]
