import { LexicalIndex } from "@heddle/rag"
import { documentIndex } from "@heddle/rag/testing"

documentIndex("the index in memory", LexicalIndex.layer)
