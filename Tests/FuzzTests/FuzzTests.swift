import FuzzTargets
import Testing
import TickertapeTesting

/// A few seconds of `scripts/fuzz`, with the same inputs in every run.
@Suite struct FuzzTests {
    @Test("the rules hold for every seed, whole and cut short", arguments: FuzzTarget.allCases)
    func seeds(target: FuzzTarget) throws {
        for seed in target.seeds {
            // Each cut of a conversation needs a whole run. A prime step cuts each seed at different places.
            let isLong = [.client, .upgrade, .reading, .replay, .wamp, .lines, .room].contains(target)
            let step = isLong ? 13 : 1
            for length in stride(from: seed.count, through: 0, by: -step) { try target.check(Array(seed[..<length])) }
        }
    }

    @Test(
        "the rules hold for damaged inputs",
        arguments: [
            (FuzzTarget.finnhub, 5_000), (.client, 300), (.upgrade, 200), (.recording, 800), (.packed, 400),
            (.stream, 5_000), (.reading, 2_000), (.replay, 2_000), (.wamp, 150), (.lines, 200), (.room, 300),
            (.venue, 5_000), (.rest, 3_000), (.nats, 5_000),
        ]
    )
    func damaged(target: FuzzTarget, count: Int) throws {
        var inputs = target.inputs(seed: 0x5EED)
        var good = 0
        for number in 0..<count {
            let input = inputs.next()
            do throws(FuzzFinding) {
                if try target.check(input) { good += 1 }
            } catch {
                Issue.record("input \(number): \(error)\n\(input)")
                return
            }
        }
        // An input that opens no connection and holds no trade tests only the first checks.
        #expect(good > count / 50, "\(good) of \(count) got through")
    }

    @Test("inputs that once broke a rule follow all rules now")
    func findings() throws {
        // A body that ends within the value of `Sec-WebSocket-Accept`, which the body repeats.
        let refusal = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 27\r\n\r\nACCEPT"
        try FuzzTarget.upgrade.check(Array(refusal.utf8))
        // A pong after a protocol error in the same read was reported after the connection's end.
        try FuzzTarget.client.check([0x00, 0x00, 0x8A, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00])
        // The smallest integer has no positive counterpart: a step of a replay, a volume, an age.
        for seed in FuzzTarget.replay.seeds { try FuzzTarget.replay.check(seed) }
        for seed in FuzzTarget.reading.seeds { try FuzzTarget.reading.check(seed) }
    }

    @Test("the parser reads what Python's json reads, to the last digit, in every frame that both accept")
    func oracle() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var inputs = FuzzTarget.finnhub.inputs(seed: 0x0AC1E)
        let lines = FuzzTarget.finnhub.seeds.map { OracleLine($0) } + (0..<6_000).map { _ in OracleLine(inputs.next()) }
        let file = try folder.write(lines.map { "\($0)\n" }.joined(), to: "frames")
        let script = "\(RunningProgram.sources)/Tests/Fuzz/oracle.py"
        let reference = try RunningProgram("/bin/sh", ["-c", "exec python3 '\(script)' <'\(file)'"])
        #expect(await reference.ending() == .exit(0), "\(reference.output)\(reference.errors)")
        #expect(reference.output.contains("\(lines.count)  frames"), "\(reference.output)")
    }

    @Test("the comparison with Python finds a digit that is wrong")
    func oracleCanFail() async throws {
        let frame = #"{"data":[{"c":null,"p":66972.77,"s":"A","t":1721555886208,"v":1}],"type":"trade"}"#
        let line = "\(OracleLine(Array(frame.utf8)))"
        #expect(line.contains(" 6697277e-2,"))
        for (lines, status) in [(line, 0), (line.replacing(" 6697277e-2,", with: " 6697278e-2,"), 1)] {
            let script = "\(RunningProgram.sources)/Tests/Fuzz/oracle.py"
            let reference = try RunningProgram("/bin/sh", ["-c", "echo '\(lines)' | python3 '\(script)'"])
            #expect(await reference.ending() == .exit(Int32(status)), "\(reference.output)\(reference.errors)")
        }
    }
}
