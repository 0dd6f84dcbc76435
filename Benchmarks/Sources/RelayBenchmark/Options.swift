/// The options of the command line.
struct Options {
    static let usage = """
        usage: RelayBenchmark [PART...] [OPTIONS]      (all parts when none is named)
        parts: throughput fanout prices venues protocols protocol-fanout saturation connections frozen memory recording screen
          --program PATH     the built program           (../.build/release/tickertape)
          --peers FOLDER     the built peers             (.build/peers)
          --recording PATH   what throughput replays     (../Sources/Tickertape/Resources/demo.jsonl)
          --trades N         repeated to at least so many trades                (500000)
          --clients N,N,..   clients of fanout                                  (10,100,1000,5000)
          --rates R,R,..     messages/s of fanout for each of them              (1000,1000,100,10)
          --many N           clients of protocol-fanout, saturation and memory  (1000)
          --crowds N,N,..    clients of connections                             (10000,20000)
          --mebibytes N      size of the file that recording reads              (1024)
          --frozen-seconds S how long frozen has a client that does not read    (60)
          --seconds S        length of a round of fanout, prices, the protocols and screen  (3)
          --rounds K         rounds; the middle one is told                     (3)
          --pin              program on CPU 0, load on CPU 1
          --json FILE        appends one JSON object a row
        """

    var program = "../.build/release/tickertape"
    var recording = "../Sources/Tickertape/Resources/demo.jsonl"
    var trades = 500_000
    var peers = ".build/peers"
    var clients = [10, 100, 1_000, 5_000]
    var rates = [1_000, 1_000, 100, 10]
    var manyClients = 1_000
    var crowds = [10_000, 20_000]
    var frozenSeconds = 60
    var mebibytes = 1_024
    var seconds = 3
    var rounds = 3
    var pins = false
    var jsonFile: String?
    /// The chosen benchmarks; empty means all.
    var names: Set<String> = []
    private static let parts: Set = [
        "throughput", "fanout", "prices", "venues", "protocols", "protocol-fanout", "saturation", "connections",
        "frozen", "memory", "recording", "screen",
    ]

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case _ where Self.parts.contains(argument): self.names.insert(argument)
            case "--pin": self.pins = true
            case "--program": self.program = try Self.value(argument, &rest)
            case "--peers": self.peers = try Self.value(argument, &rest)
            case "--many": self.manyClients = try Self.number(argument, &rest, in: 1...10_000)
            case "--crowds": self.crowds = try Self.numbers(argument, &rest, in: 2...28_000)
            case "--frozen-seconds": self.frozenSeconds = try Self.number(argument, &rest, in: 2...120)
            case "--mebibytes": self.mebibytes = try Self.number(argument, &rest, in: 1...4_096)
            case "--recording": self.recording = try Self.value(argument, &rest)
            case "--json": self.jsonFile = try Self.value(argument, &rest)
            case "--trades": self.trades = try Self.number(argument, &rest, in: 1...20_000_000)
            case "--seconds": self.seconds = try Self.number(argument, &rest, in: 1...60)
            case "--rounds": self.rounds = try Self.number(argument, &rest, in: 1...20)
            case "--clients": self.clients = try Self.numbers(argument, &rest, in: 1...10_000)
            case "--rates": self.rates = try Self.numbers(argument, &rest, in: 1...20_000)
            default: throw BenchmarkFailure("\(argument): not known\n\(Self.usage)")
            }
        }
        guard self.clients.count == self.rates.count else { throw BenchmarkFailure("--clients and --rates differ") }
    }

    func wants(_ name: String) -> Bool { self.names.isEmpty || self.names.contains(name) }

    private static func value(_ name: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw BenchmarkFailure("\(name) wants a value") }
        return value
    }

    private static func number(
        _ name: String,
        _ rest: inout ArraySlice<String>,
        in range: ClosedRange<Int>
    ) throws -> Int {
        try Self.number(name, Self.value(name, &rest), in: range)
    }

    private static func numbers(
        _ name: String,
        _ rest: inout ArraySlice<String>,
        in range: ClosedRange<Int>
    ) throws -> [Int] {
        try Self.value(name, &rest).split(separator: ",").map { try Self.number(name, String($0), in: range) }
    }

    private static func number(_ name: String, _ text: String, in range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw BenchmarkFailure("\(name) \(text): not from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
