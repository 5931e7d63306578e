#!/usr/bin/env node
import "../dist/bin/heddle.mjs"
