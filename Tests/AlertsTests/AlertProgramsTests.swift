import Glibc
import Market
import Testing
import TickertapeTesting
@testable import Alerts

@Suite("Programs that alerts start", .timeLimit(.minutes(2 * Patience.factor)))
struct AlertProgramsTests {
    private func run(
        _ limits: (inout AlertPrograms.Limits) -> Void = { _ in },
        environment: [String] = ["PATH=/usr/bin:/bin"],
        body: (AlertPrograms, MeterLog, TemporaryFolder) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let log = MeterLog("exec")
        var settings = AlertPrograms.Limits()
        limits(&settings)
        let programs = try AlertPrograms(limits: settings, environment: environment, meter: log.meter)
        try await body(programs, log, folder)
        await programs.stop(atMost: .zero)
    }

    private func script(_ text: String, in folder: TemporaryFolder, _ name: String = "script") throws -> String {
        let path = try folder.write("#!/bin/sh\n\(text)\n", to: name)
        chmod(path, 0o700)
        return path
    }

    @Test("a program gets the alert as one line of JSON, its arguments unchanged, and nothing else of ours")
    func passesOn() async throws {
        let environment = AlertPrograms.harmless([
            "PATH=/usr/bin:/bin", "FINNHUB_TOKEN=\(Canary.key)", "TICKERTAPE_ALERTS_WEBHOOK=https://x/\(Canary.key)",
            "NOTIFY_SOCKET=/run/x", "LISTEN_FDS=1", "HOME=/h", "CREDENTIALS_DIRECTORY=/c",
        ])
        #expect(environment == ["PATH=/usr/bin:/bin", "HOME=/h"])
        try await self.run(environment: environment) { programs, log, folder in
            let out = "\(folder.path)/out"
            let path = try self.script(
                "cat > \(out); echo \"$#|$1|$2\" >> \(out); ls /proc/self/fd | wc -l >> \(out); env >> \(out); "
                    + "grep SigIgn /proc/self/status >> \(out)",
                in: folder
            )
            // A descriptor of ours without close-on-exec.
            let open = dup(STDERR_FILENO)
            defer { close(open) }
            programs.run([path, "$(id) ; `id`", "-v -v"], for: sampleAlert(reason: "a \"quote\" \u{1B}[2J"))
            #expect(try await log.ends(1))
            #expect(log.count("done") == 1, "\(log.warnings.all)")
            let lines = try folder.read("out").split(separator: "\n").map(String.init)
            #expect(
                lines[0]
                    == #"{"type":"alert","rule":"BINANCE:BTCUSDT above 60000","kind":"above","symbol":"BINANCE:BTCUSDT","price":"60001.5","time":1767225600147,"reason":"a \"quote\" \u001b[2J","count":3}"#
            )
            #expect(lines[1] == "2|$(id) ; `id`|-v -v")
            // The three standard descriptors, and the one that lists them.
            #expect(lines[2].filter(\.isNumber) == "4")
            #expect(!Canary.occurs(in: lines.joined(separator: "\n")))
            #expect(lines.contains("HOME=/h"), "\(lines)")
            // No signal below the real-time ones is ignored; two of those are libc's own.
            let ignored = lines.last?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
            #expect(ignored.map { $0 & 0x7FFF_FFFF } == 0, "\(lines)")
        }
    }

    @Test("a program that is missing, not executable or fails is counted and reported once, and the next one runs")
    func failures() async throws {
        try await self.run { programs, log, folder in
            programs.run(["\(folder.path)/nowhere"], for: sampleAlert())
            programs.run([try folder.write("no program", to: "text")], for: sampleAlert())
            programs.run([try self.script("exit 3", in: folder)], for: sampleAlert())
            programs.run(["true"], for: sampleAlert())
            programs.run([""], for: sampleAlert())
            #expect(try await log.ends(5))
            #expect(log.count("failed") == 4 && log.count("done") == 1)
            #expect(log.warnings.all.count == 1)
            #expect(log.warnings.all.first?.contains("nowhere cannot be started: No such file") == true)
        }
    }

    @Test("a program that hangs, with its children and whatever signals it ignores, is ended at its limit")
    func hangs() async throws {
        // Long enough for a shell to start on a busy machine, since the test looks for its children.
        try await self.run({ $0.time = 2_000_000_000 }) { programs, log, folder in
            let pids = "\(folder.path)/pids"
            let path = try self.script(
                "trap '' TERM; sleep 1000 & echo $$ $! > \(pids); while true; do sleep 1000; done",
                in: folder
            )
            programs.run([path], for: sampleAlert())
            #expect(try await log.ends(1))
            #expect(log.count("failed") == 1)
            #expect(
                log.warnings.all.first?.hasSuffix("did not end within 2s, and was ended") == true
            )
            for pid in try folder.read("pids").split(whereSeparator: { $0.isWhitespace }).compactMap({ Int32($0) }) {
                // Collected by us or by init, which may take a moment.
                for _ in 0..<500 where kill(pid, 0) == 0 && !Self.isDead(pid) {
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(kill(pid, 0) != 0 || Self.isDead(pid), "\(pid) lives")
            }
        }
    }

    private static func isDead(_ pid: Int32) -> Bool {
        (try? TemporaryFolder.text(of: "/proc/\(pid)/stat"))?.contains(") Z ") ?? true
    }

    @Test("a program that floods its output or never reads its input blocks nothing")
    func floods() async throws {
        try await self.run { programs, log, folder in
            programs.run(
                [try self.script("yes | head -c 20000000; yes | head -c 1000000 >&2", in: folder)],
                for: sampleAlert()
            )
            programs.run([try self.script("exec <&-; exit 0", in: folder, "deaf")], for: sampleAlert())
            #expect(try await log.ends(2))
            #expect(log.count("done") == 2, "\(log.warnings.all)")
        }
    }

    @Test("the numbers of running and waiting programs are bounded, and the dropped ones are counted")
    func bounded() async throws {
        try await self.run({
            $0.atOnce = 2
            $0.waiting = 3
        }) { programs, log, folder in
            let gate = "\(folder.path)/gate"
            let path = try self.script(
                "echo x >> \(folder.path)/started; while [ ! -e \(gate) ]; do sleep 0.02; done",
                in: folder
            )
            programs.run([path], for: sampleAlert())
            programs.run([path], for: sampleAlert())
            func started() -> Int { ((try? folder.read("started")) ?? "").split(separator: "\n").count }
            for _ in 0..<1_000 where started() < 2 { try await Task.sleep(for: .milliseconds(10)) }
            for _ in 0..<10 { programs.run([path], for: sampleAlert()) }
            #expect(log.count("dropped") == 7)
            #expect(started() == 2)
            _ = try folder.write("", to: "gate")
            #expect(try await log.ends(12))
            #expect(log.count("done") == 5)
            #expect(started() == 5)
        }
    }

    @Test("at the end hanging programs are killed, waiting ones are dropped, and no process is left behind")
    func stops() async throws {
        try await self.run({ $0.atOnce = 1 }) { programs, log, folder in
            let path = try self.script("echo $$ >> \(folder.path)/pids; sleep 1000", in: folder)
            programs.run([path], for: sampleAlert())
            programs.run([path], for: sampleAlert())
            func pids() -> [Int32] {
                ((try? folder.read("pids")) ?? "").split(separator: "\n").compactMap { Int32($0) }
            }
            for _ in 0..<1_000 where pids().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            await programs.stop(atMost: .milliseconds(50))
            #expect(pids().count == 1)
            #expect(pids().allSatisfy { kill($0, 0) != 0 })
            programs.run([path], for: sampleAlert())
            #expect(log.count("dropped") == 1)
        }
    }

    @Test("an alert on the desktop is two texts without markup and options")
    func desktop() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let log = MeterLog("notify-send")
        let path = try folder.write("#!/bin/sh\nprintf '%s\\n' \"$@\" > \(folder.path)/out\n", to: "notify-send")
        chmod(path, 0o700)
        // `posix_spawnp` searches this process's own PATH.
        let before = String(cString: getenv("PATH"))
        setenv("PATH", "\(folder.path):\(before)", 1)
        defer { setenv("PATH", before, 1) }
        let programs = try AlertPrograms(environment: ["PATH=/usr/bin:/bin"], meter: log.meter)
        programs.notify(sampleAlert(symbol: "--help", reason: "<b>1 & 2</b>\u{1B}]0;x\u{07}"))
        #expect(try await log.ends(1))
        let lines = try folder.read("out").split(separator: "\n").map(String.init)
        #expect(lines.prefix(3) == ["--app-name=tickertape", "--", "--help"])
        #expect(lines.last?.hasPrefix("&lt;b&gt;1 &amp; 2&lt;/b&gt;") == true)
        #expect(lines.last?.contains("\u{1B}") == false)
        await programs.stop(atMost: .zero)
    }
}
