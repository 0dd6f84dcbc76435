import Alerts
import Glibc
import Market
import Measurements
import NIOConcurrencyHelpers
import Testing
import TickertapeTesting
@testable import Tickertape

@Suite("The outputs of alerts over a reload", .timeLimit(.minutes(2 * Patience.factor)))
struct AlertOutputsTests {
    @Test("a new program takes the next alert, the one before ends its work, and a bad webhook changes nothing")
    func replaced() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let script = "#!/bin/sh\nwhile [ -e \"$1.wait\" ]; do sleep 0.01; done\necho done >> \"$1\"\n"
        let path = try folder.write(script, to: "script")
        chmod(path, 0o700)
        let wait = try folder.write("", to: "first.wait")
        let outputs = AlertOutputs(registry: MetricRegistry(), warn: { _ in }, warnOnce: { _ in })
        var settings = Settings()
        settings.alerts.exec = [path, "\(folder.path)/first"]
        #expect(!outputs.use(try outputs.prepare(settings)))
        outputs.fire(sampleAlert())

        settings.alerts.webhookFile = "\(folder.path)/nowhere"
        #expect(throws: OperatorError.self) { try outputs.prepare(settings) }
        settings.alerts.webhookFile = nil
        settings.alerts.execLimits.time *= 2
        settings.alerts.exec[1] = "\(folder.path)/second"
        #expect(!outputs.use(try outputs.prepare(settings)))
        outputs.fire(sampleAlert())
        // The first one still waits.
        unlink(wait)
        await outputs.finish(atMost: .seconds(60))
        #expect(try folder.read("first") == "done\n" && folder.read("second") == "done\n")
        await outputs.stop(atMost: .seconds(1))
    }

    @Test("another URL in the webhook's file is another webhook, and the same one stays")
    func webhookFile() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        var settings = Settings()
        settings.alerts.webhookFile = try folder.write("https://hook.example/first\n", to: "webhook")
        let outputs = AlertOutputs(registry: MetricRegistry(), warn: { _ in }, warnOnce: { _ in })
        #expect(outputs.use(try outputs.prepare(settings)))
        #expect(!outputs.use(try outputs.prepare(settings)))
        _ = try folder.write("https://hook.example/second\n", to: "webhook")
        #expect(outputs.use(try outputs.prepare(settings)))
        await outputs.stop(atMost: .zero)
    }
}
