# The container image: the program, and nothing else. `make release` builds it from its own binaries, for each architecture:
#
#   docker build --build-arg VERSION=0.1.0 --platform linux/amd64 -t anteroom-gate/anteroom .
FROM scratch
ARG TARGETARCH
ARG VERSION
LABEL org.opencontainers.image.title="Anteroom" \
      org.opencontainers.image.description="A waiting room in front of a site" \
      org.opencontainers.image.source="https://github.com/anteroom-gate/anteroom" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY LICENSE /LICENSE
COPY dist/linux_${TARGETARCH}/anteroom /anteroom
# Two empty directories: /tmp for temporary files, and the program's own for what has to survive a restart.
COPY dist/root /
COPY --chown=65532:65532 dist/var /var
USER 65532:65532
ENV STATE_DIRECTORY=/var/lib/anteroom
VOLUME /var/lib/anteroom
EXPOSE 8080
ENTRYPOINT ["/anteroom"]
CMD ["serve", "--config", "/etc/anteroom/anteroom.yaml"]
