import Market
import NIOCore
import Wire

extension StreamClient {
    /// Passes a client's request to the replay. A change is reported to all clients, including this one; a refusal only
    /// to this one.
    func askReplay(_ text: ByteBuffer) {
        guard let replay = self.context.replay else {
            return self.notify(.error(ReplayEndpoint.notReplay, code: "not-a-replay"))
        }
        guard self.context.settings.allowsReplayControl else {
            return self.notify(.error(ReplayEndpoint.closed, code: "replay-control-off"))
        }
        let request: ReplayRequest
        do throws(ReplayRefusal) {
            request = try ReplayRequestText.parse(text, position: replay.position())
        } catch {
            return self.notify(.error(error.description, code: "replay-refused"))
        }
        let client = NIOLoopBound(self, eventLoop: self.context.loop)
        let loop = self.context.loop
        replay.request(request) { result in
            guard case .failure(let refusal) = result else { return }
            loop.execute {
                client.value.notify(.error(refusal.description, code: "replay-refused"))
                client.value.context.flush()
            }
        }
    }
}
