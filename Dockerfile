# Builds the program and runs it as a user without rights. Data lies in /data.
#   docker build -t lazuli .
#   docker run -p 10000-10003:10000-10003 -v lazuli:/data lazuli
# The hosts are given here, so the published key is served with a warning: give accounts of your own with
# -e AZURITE_ACCOUNTS=name:key where others than your own machine reach it.
FROM node:20-slim AS build
WORKDIR /build
COPY package.json package-lock.json tsconfig*.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm pack --ignore-scripts && mkdir /app && npm install --prefix /app --omit=dev ./lazuli-*.tgz

FROM node:20-slim
ENV NODE_ENV=production
COPY --from=build /app /app
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 10000 10001 10002 10003 10005 10445
# Not by fetch, which refuses this port.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["node", "-e", "require('http').get('http://127.0.0.1:10005/health/ready', (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/node_modules/lazuli/dist/server/main.js"]
CMD ["--location", "/data", "--blobHost", "0.0.0.0", "--queueHost", "0.0.0.0", "--tableHost", "0.0.0.0", "--fileHost", "0.0.0.0", "--smbHost", "0.0.0.0"]
