import Glibc
import VenueSchedules

// Runs seeded schedules of faults between a venue and the program, in virtual time.
//
//   Schedules run FILE SEED COUNT           on a recording of Binance's streams, `{"at", "frame"}` a line
//   Schedules made VENUE TRADES SEED COUNT  on a made-up market of binance, coinbase or kraken
//   Schedules hours HOURS SYMBOLS RATE SEED three venues with SYMBOLS each, RATE trades a second in all
//
// The exit status is 1 if a schedule fails. Its seed alone runs it again.

func usage() -> Never {
    print(
        "usage: Schedules run FILE SEED COUNT | made binance|coinbase|kraken TRADES SEED COUNT "
            + "| hours HOURS SYMBOLS RATE SEED"
    )
    exit(64)
}

func run(_ market: VenueMarket, seed: UInt64, count: UInt64) throws {
    var report = ScheduleReport()
    for seed in seed..<seed + count {
        let outcome = try ScheduleRun.run(seed, market)
        report.add(outcome)
        if !outcome.faults.isEmpty || count == 1 {
            print(outcome.schedule)
            for fault in outcome.faults.prefix(10) { print("  FAULT \(fault)") }
            print("  tapes \(outcome.hash)")
        }
    }
    print(report.text)
    if !report.failed.isEmpty { exit(1) }
}

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "run" where arguments.count == 4:
    guard let seed = UInt64(arguments[2]), let count = UInt64(arguments[3]) else { usage() }
    try run(.recorded(arguments[1]), seed: seed, count: count)
case "made" where arguments.count == 5:
    guard let trades = Int(arguments[2]), let seed = UInt64(arguments[3]), let count = UInt64(arguments[4]) else {
        usage()
    }
    try run(.made(named: arguments[1], seed: 1, count: trades), seed: seed, count: count)
case "hours" where arguments.count == 5:
    guard let hours = Double(arguments[1]), let symbols = Int(arguments[2]), let rate = Int(arguments[3]),
        let seed = UInt64(arguments[4])
    else { usage() }
    let faults = try LongRun(symbols: symbols, rate: rate, seed: seed).run(hours: hours) { hour in
        print(
            "hour \(hour.hour): \(hour.residentKiB) KiB, \(hour.trades) trades, \(hour.filled) filled, \(hour.gaps) gaps, "
                + "\(hour.missing) missing, \(hour.cuts) cuts, \(hour.requests) requests"
        )
        fflush(nil)
    }
    for fault in faults { print("FAULT \(fault)") }
    if !faults.isEmpty { exit(1) }
default: usage()
}
