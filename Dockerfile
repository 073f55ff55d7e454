# The container image: the program, and nothing else. `make release` builds it from its own binaries, for each architecture:
#
#   docker build --build-arg VERSION=0.1.0 --platform linux/amd64 -t fairdoor-gate/fairdoor .
FROM scratch
ARG TARGETARCH
ARG VERSION
LABEL org.opencontainers.image.title="Fairdoor" \
      org.opencontainers.image.description="A waiting room in front of a site" \
      org.opencontainers.image.source="https://github.com/fairdoor-gate/fairdoor" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY LICENSE dist/linux_${TARGETARCH}/THIRD-PARTY-LICENSES dist/linux_${TARGETARCH}/fairdoor /
# Two empty directories: /tmp for temporary files, and the program's own for what has to survive a restart.
COPY dist/root /
COPY --chown=65532:65532 dist/var /var
USER 65532:65532
ENV STATE_DIRECTORY=/var/lib/fairdoor
VOLUME /var/lib/fairdoor
EXPOSE 8080
ENTRYPOINT ["/fairdoor"]
CMD ["serve", "--config", "/etc/fairdoor/fairdoor.yaml"]
