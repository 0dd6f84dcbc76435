import NIOHTTP1

extension HTTPRequestHead {
    /// Whether it is for a file of the page: for whoever has nothing to show yet, so no token is needed, and the files hold no
    /// secret. At `/` a request for a WebSocket, be it a wrong one, is not for the page.
    var asksForPage: Bool {
        guard PageAnswer.all[String(self.path)] != nil else { return false }
        return !self.headers.contains(name: "Upgrade") && !self.headers.contains(name: "Sec-WebSocket-Key")
            && !self.headers.contains(name: "Sec-WebSocket-Version")
    }
}
