"""Line pictures as SVG, small enough to be kept beside the text."""
import math

WIDTH, HEIGHT = 400, 290
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 44
COLOURS = ["#1f5fa8", "#b03020", "#2e7d32", "#7b4fa0", "#b07d12", "#555555"]


class Panel:
    """lines: {name: [(x, y)]}; x is logarithmic.  Points above the top are drawn at the top, hollow."""

    def __init__(self, title, below, lines, top, ticks):
        self.title, self.below, self.lines = title, below, lines
        self.top, self.ticks = top, ticks
        xs = [x for line in lines.values() for x, _ in line]
        self.low, self.high = min(xs) / 1.15, max(xs) * 1.15
        self.names_at = HEIGHT - BOTTOM - 36  # below 1 there is room: nothing is much quicker than auto

    def x(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        return HEIGHT - BOTTOM - min(value / self.top, 1) * (HEIGHT - TOP - BOTTOM)

    def draw(self):
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        out = [f'<text x="{WIDTH / 2}" y="18" text-anchor="middle">{self.title}</text>',
               f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
               f'{self.below}</text>']
        step = 0.5 if self.top <= 4 else 1
        for i in range(int(self.top / step) + 1):
            y = self.y(i * step)
            colour = "#888" if i * step == 1 else "#ddd"
            out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" '
                       f'stroke="{colour}"/>')
            out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{i * step:g}</text>')
        out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="black"/>')
        for value, label in self.ticks:
            out.append(f'<text x="{self.x(value):.1f}" y="{bottom + 16}" '
                       f'text-anchor="middle">{label}</text>')
        for number, (name, line) in enumerate(self.lines.items()):
            colour = COLOURS[number % len(COLOURS)]
            points = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in line)
            out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" '
                       f'stroke-width="1.6"/>')
            for x, y in line:
                fill = "white" if y > self.top else colour
                out.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="2.6" '
                           f'fill="{fill}" stroke="{colour}"/>')
            column, line_number = divmod(number, 3)
            out.append(f'<text x="{LEFT + 10 + 130 * column}" '
                       f'y="{self.names_at + 14 * line_number}" fill="{colour}">{name}</text>')
        return out


def write(path, panels):
    """Side by side."""
    width = WIDTH * len(panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
           f'viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>']
    for number, panel in enumerate(panels):
        out.append(f'<g transform="translate({number * WIDTH} 0)">')
        out += panel.draw()
        out.append("</g>")
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
