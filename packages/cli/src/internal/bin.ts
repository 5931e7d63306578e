import { run } from "../Cli.ts"

run()
