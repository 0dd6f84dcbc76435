import Relay
import Feeds
import Logging
import MockUpstream
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Recordings
import ServiceLifecycle
import TLS
import UnixSignals

extension Assembly {
    /// Serves a recording to other programs until it is stopped.
    package static func serve(_ order: ServeOrder, _ settings: Settings) async throws {
        EarlyStop.take()
        let material = try order.material
        let logger = ProgramLog.make(level: settings.logLevel)
        let authority = try CertificateAuthority(name: "tickertape stand-in")
        var standInSettings = StandInSettings()
        standInSettings.speed = order.speed.factor
        standInSettings.rebasesTimes = order.movesTimes
        let recording: RecordingFile? = if case .recording(let file) = material { file } else { nil }
        if let recording {
            // Before places are looked for: what is found then is not told again.
            Self.tellDamage(of: recording)
            try order.part.apply(to: &standInSettings.replay, recording: recording)
        }
        standInSettings.sharesClock = order.sharesClock
        standInSettings.replay.hasBreaks = order.hasBreaks
        standInSettings.replay.waitsForAll = !order.sharesClock
        standInSettings.keepaliveInterval = .seconds(20)
        standInSettings.faults = order.faults
        standInSettings.oneConnectionPerKey = order.oneConnectionPerKey
        standInSettings.symbolLimit = order.symbolLimit
        standInSettings.connectionLimit = order.connectionLimit
        standInSettings.faultHappened = { connection, fault in
            Console.complain("connection \(connection): \(fault)")
        }
        if order.isEncrypted {
            standInSettings.credentials = try authority.issue(for: order.listen.host)
            if let path = order.authorityOut { try NewFile.write(authority.certificatePEM, to: path) }
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let standIn: StandIn
        do {
            standIn = try await StandIn.start(
                material,
                settings: standInSettings,
                on: group.next(),
                host: order.listen.host,
                port: order.listen.port,
                logger: logger,
                wallClock: WallClock.now
            )
        } catch let error where error is TLSError || error is RecordingFailure {
            throw OperatorError("\(error)", status: .failure)
        } catch {
            throw OperatorError(
                "cannot listen on \(order.listen): \(PlainWords.of(error)); choose another --listen HOST:PORT",
                status: .addressInUse
            )
        }
        let port = standIn.address?.port ?? order.listen.port
        let address = "\(order.isEncrypted ? "wss" : "ws")://\(Endpoint(host: order.listen.host, port: port))"
        Console.complain(
            "serving \(order.recording ?? "a simulated market") as Finnhub on \(address)/?token=anything; Ctrl-C stops"
        )
        if order.isEncrypted {
            if let path = order.authorityOut {
                Console.complain("the authority to trust is in \(path)")
            } else {
                // On standard output, so that it can go into a file or a variable.
                for line in authority.certificatePEM.split(separator: "\n") { Console.print(String(line)) }
                Console.complain("clients must trust the authority above; --ca-out FILE writes it to a file")
            }
        }
        try await TickerProgram.live([
            ProgramPart("stand-in") {
                try? await gracefulShutdown()
                await standIn.stop()
            }
        ])
        await group.end()
        if let recording { InnerReplay.tell(recording) }
    }

    /// Says of each place of a recording that cannot be read, as it is come to; of many only how many, at the end.
    private static func tellDamage(of recording: RecordingFile) {
        let mostLines = 20
        let told = NIOLockedValueBox(0)
        recording.damage.watch { line in
            let count = told.withLockedValue { count in
                count += 1
                return count
            }
            if count <= mostLines { Console.complain("warning: \(line)") }
        }
    }
}

extension ServeOrder {
    /// What is served.
    fileprivate var material: ReplayMaterial {
        get throws(OperatorError) {
            if let recording { return .recording(try OperatorError.opening(recording: recording)) }
            return .market(self.market.run(start: WallClock.now() / 1_000_000))
        }
    }
}
