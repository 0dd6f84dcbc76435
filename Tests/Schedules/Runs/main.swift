import Glibc
import NIOConcurrencyHelpers
import VenueSchedules

// Runs seeded schedules of faults between a venue and the program, most of them in virtual time.
//
//   Schedules run FILE SEED COUNT           on a recording of Binance's streams, `{"at", "frame"}` a line
//   Schedules made VENUE TRADES SEED COUNT  on a made-up market of binance, coinbase or kraken
//   Schedules days TRADES SEED COUNT        on a slow market of Binance, which ends connections after 24 hours
//   Schedules real FILE SEED COUNT          as `run`, or with VENUE TRADES as `made`, but in real time, all COUNT at once:
//                                           the program is a process and the venue behind TLS on 127.0.0.1
//   Schedules hours HOURS SYMBOLS RATE SEED three venues with SYMBOLS each, RATE trades a second in all
//
// The exit status is 1 if a schedule fails. Its seed alone runs it again.

func usage() -> Never {
    print(
        "usage: Schedules run FILE SEED COUNT | made binance|coinbase|kraken TRADES SEED COUNT "
            + "| days TRADES SEED COUNT | real FILE|(VENUE TRADES) SEED COUNT | hours HOURS SYMBOLS RATE SEED"
    )
    exit(64)
}

func run(
    _ market: VenueMarket,
    seed: UInt64,
    count: UInt64,
    _ schedule: (UInt64, VenueMarket) throws -> ScheduleOutcome = { try ScheduleRun.run($0, $1) }
) throws {
    var report = ScheduleReport()
    for seed in seed..<seed + count {
        let outcome = try schedule(seed, market)
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

/// Runs schedules in real time, with the figures of each as soon as it has ended.
func runRealTime(_ market: VenueMarket, seed: UInt64, count: UInt64) throws {
    let reported = NIOLockedValueBox((report: ScheduleReport(), failure: MarketFailure?.none))
    ScheduleRun.runRealTime(seed..<seed + count, market) { result in
        reported.withLockedValue { reported in
            switch result {
            case .success(let outcome):
                var own = ScheduleReport()
                own.add(outcome)
                reported.report.add(outcome)
                print(outcome.schedule)
                for fault in outcome.faults { print("  FAULT \(fault)") }
                print(own.text.split(separator: "\n").dropFirst().prefix(4).joined(separator: "\n"))
                fflush(nil)
            case .failure(let error): reported.failure = error
            }
        }
    }
    let (report, failure) = reported.withLockedValue { $0 }
    if let failure { throw failure }
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
case "days" where arguments.count == 4:
    guard let trades = Int(arguments[1]), let seed = UInt64(arguments[2]), let count = UInt64(arguments[3]) else {
        usage()
    }
    let market = try VenueMarket.made(named: "binance", seed: 1, count: trades, slowness: 1_000)
    try run(market, seed: seed, count: count) { try ScheduleRun.days($0, $1) }
case "real" where arguments.count == 4 || arguments.count == 5:
    guard let seed = UInt64(arguments[arguments.count - 2]), let count = UInt64(arguments[arguments.count - 1]) else {
        usage()
    }
    if arguments.count == 4 {
        try runRealTime(.recorded(arguments[1]), seed: seed, count: count)
    } else {
        guard let trades = Int(arguments[2]) else { usage() }
        try runRealTime(.made(named: arguments[1], seed: 1, count: trades), seed: seed, count: count)
    }
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
