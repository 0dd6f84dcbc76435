import Logging
import Testing
import TickertapeTesting
@testable import Feeds

@Suite("The log of the service's errors")
struct ErrorLogTests {
    private static func error(_ text: String) -> String { #"{"msg":"\#(text)","type":"error"}"# }

    /// The errors concern the feed, a symbol that was not requested, or one that was.
    @Test(
        "has twenty lines a minute at most, however many errors come, and says how many were left out",
        arguments: ["Trouble", "Invalid symbol X:", "Subscribing to too many symbols "]
    )
    func flood(words: String) throws {
        let lines = LogLines()
        let bench = FeedBench(logger: Logger(label: "test", factory: { _ in lines.handler }))
        bench.start()
        let connection = try #require(bench.connections.first)
        func errors() -> [String] { lines.all.filter { $0.contains("The service reports an error") } }
        func send(_ seconds: Range<Int>) {
            for second in seconds {
                connection.send(FeedBench.trade("A", second + 1))
                for number in 0..<200 { connection.send(Self.error("\(words)\(second)-\(number)")) }
                bench.advance(milliseconds: 1_000)
            }
        }
        send(0..<59)
        let early = errors()
        #expect(early.count <= 20)
        // No other line of the feed takes their place.
        #expect(lines.all.count <= early.count + 5, "\(lines.all.suffix(5))")
        send(59..<70)
        #expect((early.isEmpty ? 0...0 : 21...40).contains(errors().count))
        #expect(early.isEmpty || errors().contains { $0.contains(" leftOut=") })
        bench.stop()
    }
}
