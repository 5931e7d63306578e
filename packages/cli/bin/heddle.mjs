#!/usr/bin/env node
await import("../dist/bin/heddle.mjs")
