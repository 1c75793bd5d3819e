"""Charts as inline SVG, made of text alone: no drawing library, no request, no script.

A chart is a string of SVG that is styled by the page's style sheet, so that one chart serves
light, dark and paper. Colours are never the only sign: lines differ by dash and marker too,
and every cell of a map holds its value.
"""
