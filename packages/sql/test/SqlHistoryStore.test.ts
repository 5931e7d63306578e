import { SqlHistoryStore } from "@heddle/sql"
import { historyStore } from "@heddle/workflow/testing"
import { Layer } from "effect"
import { ownFile } from "./support/files.ts"

historyStore("the history in a file keeps the rules", Layer.provide(SqlHistoryStore.layer, ownFile()))
